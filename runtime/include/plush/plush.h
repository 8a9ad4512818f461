// SPDX-License-Identifier: MIT
// Everything a game needs: open a baked asset, put bodies of it into a world, step, skin.
#pragma once

#include "plush/allocator.h"
#include "plush/asset.h"
#include "plush/body.h"
#include "plush/collider.h"
#include "plush/collision.h"
#include "plush/debug_draw.h"
#include "plush/jobs.h"
#include "plush/pose.h"
#include "plush/solver.h"
#include "plush/status.h"
#include "plush/step.h"
#include "plush/types.h"
#include "plush/version.h"
#include "plush/world.h"
