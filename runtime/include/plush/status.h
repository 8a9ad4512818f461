// SPDX-License-Identifier: MIT
// How the runtime reports failure: by value, never by an exception or assertion.
#pragma once

#include <cstdint>

namespace plush {

/// What went wrong. Names and messages are stable; numbers are not.
enum class StatusCode : uint8_t {
  kOk,
  kInvalidArgument,  ///< a caller's value is out of its documented range
  kCannotRead,       ///< the file is missing or unreadable
  kTruncated,        ///< fewer bytes than the file's own structure needs
  kBadMagic,         ///< not a .plush file
  kForeignVersion,   ///< written by another format version; bake the source again
  kLayoutMismatch,   ///< right version, but the writer's compiler laid out records differently
  kMisaligned,       ///< the address of the bytes is not a multiple of 32; see CopyAligned
  kCorrupt,          ///< an index, count, number or order inside the file is wrong
  kOutOfMemory,      ///< the allocator returned null, or an id's 2^24 slots are used up; nothing
                     ///< changed
  kNullId,           ///< the id names nothing: a default one, or that of a call that failed
  kForeignId,        ///< this world never gave out the id; another one may have (WorldDesc::tag)
  kStaleId,          ///< the object that the id names has been removed
  kMismatch,         ///< a saved state does not fit this world or these assets
  kUnsupported,      ///< the asset cannot be used so: a static mesh is no body
};

/// The result of a call that can fail. Cheap to copy; owns nothing. Unless a call says otherwise,
/// nothing has changed if it fails.
struct [[nodiscard]] Status {
  StatusCode code = StatusCode::kOk;
  const char* section =
      "";  ///< static text: the file section or argument at fault, e.g. "simulation.tets"
  const char* reason = "";  ///< static text: what is wrong with it
  uint64_t index = 0;       ///< of the first wrong element of the section, if there is one

  bool ok() const { return code == StatusCode::kOk; }
};

/// Stable, static name of a code, e.g. "Corrupt".
const char* StatusCodeName(StatusCode code);

}  // namespace plush
