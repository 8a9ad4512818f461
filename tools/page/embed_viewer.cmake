# Writes a C++ file that holds a page as text.
#
#   cmake -DVIEWER=page -DOUTPUT=file -P embed_viewer.cmake

cmake_minimum_required(VERSION 3.24)
file(READ ${VIEWER} page)
string(FIND "${page}" ")viewer\"" terminator)
if(NOT terminator EQUAL -1)
  message(FATAL_ERROR "${VIEWER} holds )viewer\", which ends the string too early")
endif()
file(WRITE ${OUTPUT}
  "#include \"page/page_text.h\"\n\n"
  "namespace plush::tools {\n\nconst char kViewerText[] = R\"viewer(${page})viewer\";\n\n"
  "}  // namespace plush::tools\n")
