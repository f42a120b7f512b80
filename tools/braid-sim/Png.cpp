//===- Png.cpp - an SVG drawing as PNG ----------------------------------------------------------------------------===//
//
// The few functions of librsvg (2.46 and later) and cairo that this takes, by their C interfaces (librsvg/rsvg.h, cairo.h).
//===------------------------------------------------------------------------------------------------------------===//
#include "Png.h"
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <type_traits>

namespace braid::drawing {

namespace {

struct Rectangle {
  double x, y, width, height;
};

struct Libraries {
  void *(*newFromData)(const unsigned char *data, size_t size, void **error) = nullptr;
  int (*render)(void *handle, void *cairo, const Rectangle *viewport, void **error) = nullptr;
  void *(*newSurface)(int format, int width, int height) = nullptr;
  void *(*newCairo)(void *surface) = nullptr;
  int (*status)(void *cairo) = nullptr;
  int (*writePng)(void *surface, int (*write)(void *, const unsigned char *, unsigned), void *closure) = nullptr;

  /// The name of what can't be loaded, or nullptr.
  const char *load() {
    void *svg = dlopen("librsvg-2.so.2", RTLD_NOW | RTLD_LOCAL),
         *cairo = dlopen("libcairo.so.2", RTLD_NOW | RTLD_LOCAL);
    auto find = [](void *library, auto &function, const char *name) {
      function =
          library ? reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name)) : nullptr;
      return function != nullptr;
    };
    if (!find(svg, newFromData, "rsvg_handle_new_from_data") || !find(svg, render, "rsvg_handle_render_document"))
      return "librsvg-2.so.2";
    return find(cairo, newSurface, "cairo_image_surface_create") && find(cairo, newCairo, "cairo_create") &&
                   find(cairo, status, "cairo_status") && find(cairo, writePng, "cairo_surface_write_to_png_stream")
               ? nullptr
               : "libcairo.so.2";
  }
};

} // namespace

bool isPng(const std::string &path) { return path.size() > 4 && path.compare(path.size() - 4, 4, ".png") == 0; }

std::string renderPng(const std::string &svg, std::string &png) {
  Libraries libraries;
  if (const char *missing = libraries.load())
    return std::string("PNG, expected ") + missing +
           " to draw it (Debian: librsvg2-2), got none; .svg needs no library";
  double width = 0, height = 0;
  const char *size = strstr(svg.c_str(), "width=\"");
  if (!size || sscanf(size, "width=\"%lf\" height=\"%lf\"", &width, &height) != 2)
    return "PNG, expected a drawing that says its size, got none";
  constexpr int scale = 2, argb32 = 0, most = 32767; // cairo's limit
  if (width * scale > most || height * scale > most)
    return "PNG, expected at most " + std::to_string(most / scale) + " x " + std::to_string(most / scale) +
           " pixels, got a larger drawing; .svg has no limit";
  void *handle = libraries.newFromData(reinterpret_cast<const unsigned char *>(svg.data()), svg.size(), nullptr);
  void *surface = libraries.newSurface(argb32, int(width * scale), int(height * scale));
  void *cairo = libraries.newCairo(surface);
  Rectangle all{0, 0, width * scale, height * scale};
  auto append = [](void *closure, const unsigned char *data, unsigned length) {
    static_cast<std::string *>(closure)->append(reinterpret_cast<const char *>(data), length);
    return 0;
  };
  if (!handle || !libraries.render(handle, cairo, &all, nullptr) || libraries.status(cairo) != 0 ||
      libraries.writePng(surface, append, &png) != 0)
    return "PNG, expected librsvg to draw it, got an error from it";
  return ""; // what was made ends with the program
}

} // namespace braid::drawing
