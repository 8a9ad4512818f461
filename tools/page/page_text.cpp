// SPDX-License-Identifier: MIT
#include "page/page_text.h"

#include <nlohmann/json.hpp>

#include <string_view>

namespace plush::tools {
namespace {

// JSON that no HTML parser takes for markup [HTML, 4.12.1.3].
std::string ScriptText(const nlohmann::json& document) {
  const std::string json = document.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  std::string text;
  text.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      text += "\\u003c";
    } else {
      text += c;
    }
  }
  return text;
}

}  // namespace

Result<std::string> PageText(const nlohmann::json& document,
                             const std::vector<std::string>& blobs) {
  const std::string_view viewer = kViewerText;
  const size_t mark = viewer.rfind(kDataMark);
  if (mark == std::string_view::npos) {
    return Error{ExitCode::kInternal, "the viewer lacks the mark of its data", ""};
  }
  std::string data =
      "<script type=\"application/json\" id=\"data\">" + ScriptText(document) + "</script>\n";
  for (size_t i = 0; i < blobs.size(); ++i) {
    data += "<script type=\"text/plain\" id=\"blob-" + std::to_string(i) + "\">" + blobs[i] +
            "</script>\n";
  }
  if (viewer.size() + data.size() > kMaxPageBytes) {
    return Error{ExitCode::kLimit,
                 "the page would have " + std::to_string((viewer.size() + data.size()) >> 20) +
                     " MiB, more than a browser opens; report fewer files or lower --frames",
                 ""};
  }
  return std::string(viewer.substr(0, mark)) + data +
         std::string(viewer.substr(mark + std::string_view(kDataMark).size()));
}

}  // namespace plush::tools
