# SPDX-License-Identifier: MIT
# Prints what a LastTest.log of ctest says was skipped, and why. Exit code 1 if one of these failed:
# ctest counts whatever prints "SKIPPED:" as skipped.
#
# usage: awk -f skipped.awk LastTest.log
/^[0-9]+\/[0-9]+ Testing: / { name = substr($0, index($0, ": ") + 2); why = fails = passes = "" }
/^SKIPPED: / && why == "" { why = substr($0, 10) }
/^test cases:.* failed/ { fails = "FAILED after it said so, " }
/^Test Pass Reason:/ { passes = 1 }
/^Skip regular expression found/ && passes {
  print fails "skipped: " name ": " why
  ++count
  failed += fails != ""
}
END { print count + 0 " tests were skipped" (failed ? ", " failed " of them FAILED" : ""); exit failed > 0 }
