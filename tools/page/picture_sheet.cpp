// SPDX-License-Identifier: MIT
#include "page/picture_sheet.h"

#include "page/model_picture.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>

namespace plush::tools {
namespace {

constexpr uint32_t kWidth = 360, kHeight = 270, kFoot = 46, kGap = 8;
constexpr uint32_t kRampWidth = 120, kRampHeight = 10;
constexpr Picture::Pixel kPaper = {246, 246, 244, 255}, kView = {233, 234, 236, 255};

struct SheetColumn {
  const char* title;
  double turn_deg, tilt_deg;
  ModelColours colours;
  const char* ramp;  // null: none
};

constexpr std::array<SheetColumn, 4> kColumns = {
    {{"surface", 30.0, 20.0, ModelColours::kMaterial, nullptr},
     {"surface, from the right", 90.0, 10.0, ModelColours::kMaterial, nullptr},
     {"cage", 30.0, 20.0, ModelColours::kQuality, "0 to 1: tet quality"},
     {"cage", 30.0, 20.0, ModelColours::kDihedral, "0 to 60 degrees: dihedral"}}};

void Fill(uint32_t x, uint32_t y, uint32_t width, uint32_t height, const Picture::Pixel& pixel,
          Picture* sheet) {
  for (uint32_t k = 0; k < height; ++k) {
    const size_t row = size_t{y + k} * sheet->width + x;
    std::fill_n(sheet->pixels.begin() + static_cast<std::ptrdiff_t>(row), width, pixel);
  }
}

void Paste(const Picture& picture, uint32_t x, uint32_t y, Picture* sheet) {
  for (uint32_t k = 0; k < picture.height; ++k) {
    for (uint32_t i = 0; i < picture.width; ++i) {
      const Picture::Pixel& pixel = picture.pixels[size_t{k} * picture.width + i];
      if (pixel.a != 0) sheet->pixels[size_t{y + k} * sheet->width + x + i] = pixel;
    }
  }
}

void DrawRamp(uint32_t x, uint32_t y, const char* text, Picture* sheet) {
  for (uint32_t i = 0; i < kRampWidth; ++i) {
    Fill(x + i, y, 1, kRampHeight, PixelOf(RampColour((i + 0.5) / kRampWidth)), sheet);
  }
  DrawText(text, x + kRampWidth + kGap, y, sheet);
}

}  // namespace

Picture DrawSheet(std::span<const PageModel* const> models) {
  std::vector<const PageModel*> shown;
  for (const PageModel* model : models) {
    if (model->asset != nullptr && shown.size() < kMostSheetRows) shown.push_back(model);
  }
  constexpr uint32_t kAcross = kWidth + kGap, kDown = kHeight + kFoot + kGap;
  Picture sheet;
  sheet.width = static_cast<uint32_t>(kColumns.size()) * kAcross + kGap;
  sheet.height = static_cast<uint32_t>(std::max<size_t>(1, shown.size())) * kDown + kGap;
  sheet.pixels.assign(size_t{sheet.width} * sheet.height, kPaper);
  for (uint32_t row = 0; row < shown.size(); ++row) {
    const PageModel& model = *shown[row];
    for (uint32_t c = 0; c < kColumns.size(); ++c) {
      const SheetColumn& column = kColumns[c];
      if (model.asset->is_static() && column.ramp != nullptr) continue;
      const uint32_t x = kGap + c * kAcross, y = kGap + row * kDown;
      Fill(x, y, kWidth, kHeight, kView, &sheet);
      const ModelView view = {column.turn_deg, column.tilt_deg, column.colours, model.materials};
      Paste(DrawModel(*model.asset, view, kWidth, kHeight), x, y, &sheet);
      const std::string name = std::filesystem::path(model.file).stem().string() + ": ";
      const std::string caption = name + column.title;
      DrawText(std::string_view(caption).substr(0, kWidth / kLetterWidth), x, y + kHeight + kGap,
               &sheet);
      if (column.ramp != nullptr) DrawRamp(x, y + kHeight + 3 * kGap, column.ramp, &sheet);
    }
  }
  return sheet;
}

}  // namespace plush::tools
