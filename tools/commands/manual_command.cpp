// SPDX-License-Identifier: MIT
// `plush completion` and `plush man`: what --help says, for shells and for man.

#include "base/result.h"
#include "commands/commands.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace plush::tools {
namespace {

using Verbs = std::vector<const CLI::App*>;

Verbs VerbsOf(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

// The names of an option with their dashes, short ones first.
std::vector<std::string> NamesOf(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

bool TakesValue(const CLI::Option& option) { return option.get_expected_max() > 0; }

// `text` with a backslash before each of `special`.
std::string Escaped(const std::string& text, const std::string& special) {
  std::string escaped;
  for (const char c : text) {
    if (special.find(c) != std::string::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

// In single quotes, in which a shell changes nothing.
std::string Quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string BashCompletion(const CLI::App& app) {
  std::string verbs, cases;
  for (const CLI::App* verb : VerbsOf(app)) {
    verbs += (verbs.empty() ? "" : " ") + verb->get_name();
    std::string names;
    for (const CLI::Option* option : verb->get_options()) {
      for (const std::string& name : NamesOf(*option)) names += (names.empty() ? "" : " ") + name;
    }
    cases += "    " + verb->get_name() + ") words='" + names + "' ;;\n";
  }
  return "# bash completion for plush. Load it by: source <(plush completion bash)\n"
         "_plush() {\n"
         "  local word=${COMP_WORDS[COMP_CWORD]} words=\n"
         "  COMPREPLY=()\n"
         "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
         "    COMPREPLY=($(compgen -W '" +
         verbs +
         " --help --version' -- \"$word\"))\n"
         "    return\n"
         "  fi\n"
         "  case ${COMP_WORDS[1]} in\n" +
         cases +
         "  esac\n"
         "  if [[ $word == -* ]]; then COMPREPLY=($(compgen -W \"$words\" -- \"$word\")); fi\n"
         "}\n"
         "complete -o default -F _plush plush\n";
}

std::string ZshCompletion(const CLI::App& app) {
  std::string verbs, cases;
  for (const CLI::App* verb : VerbsOf(app)) {
    verbs += "    " + Quoted(verb->get_name() + ":" + verb->get_description()) + "\n";
    cases += "    " + verb->get_name() + ")\n      _arguments";
    for (const CLI::Option* option : verb->get_options()) {
      const std::string help = Escaped(option->get_description(), "[]:\\");
      for (const std::string& name : NamesOf(*option)) {
        const char* const value = TakesValue(*option) ? ":value:_files" : "";
        cases += " \\\n        " + Quoted(name + "[" + help + "]" + value);
      }
    }
    cases += " \\\n        '*:file:_files'\n      ;;\n";
  }
  return "#compdef plush\n"
         "# zsh completion for plush. Load it by: source <(plush completion zsh)\n"
         "_plush() {\n"
         "  local -a verbs\n"
         "  verbs=(\n" +
         verbs +
         "  )\n"
         "  if (( CURRENT == 2 )); then\n"
         "    _describe verb verbs\n"
         "    return\n"
         "  fi\n"
         "  local verb=$words[2]\n"
         "  shift words\n"
         "  (( CURRENT-- ))\n"
         "  case $verb in\n" +
         cases +
         "  esac\n"
         "}\n"
         "if [ \"$funcstack[1]\" = _plush ]; then _plush \"$@\"; else compdef _plush plush; fi\n";
}

std::string FishCompletion(const CLI::App& app) {
  std::string text = "# fish completion for plush. Load it by: plush completion fish | source\n";
  for (const CLI::App* verb : VerbsOf(app)) {
    const std::string name = verb->get_name();
    text += "complete -c plush -n __fish_use_subcommand -a " + name + " -d " +
            Quoted(Escaped(verb->get_description(), "\\")) + "\n";
    for (const CLI::Option* option : verb->get_options()) {
      if (NamesOf(*option).empty()) continue;
      text += "complete -c plush -n '__fish_seen_subcommand_from " + name + "'";
      for (const std::string& letter : option->get_snames()) text += " -s " + letter;
      for (const std::string& word : option->get_lnames()) text += " -l " + word;
      if (TakesValue(*option)) text += " -r";
      text += " -d " + Quoted(Escaped(option->get_description(), "\\")) + "\n";
    }
  }
  return text;
}

// Text for man: no letter has a second meaning.
std::string Roff(const std::string& text) {
  std::string roff;
  for (const char c : text) {
    if (c == '\n') {
      roff += "\n.br\n";
    } else if (c == '\\') {
      roff += "\\e";
    } else if (c == '-') {
      roff += "\\-";
    } else if ((c == '.' || c == '\'') && (roff.empty() || roff.back() == '\n')) {
      roff += std::string("\\&") + c;
    } else {
      roff += c;
    }
  }
  return roff;
}

std::string RoffOption(const CLI::Option& option) {
  std::string names;
  for (const std::string& name : NamesOf(option)) {
    names += (names.empty() ? "" : ", ") + std::string("\\fB") + Roff(name) + "\\fR";
  }
  if (names.empty()) names = "\\fI" + Roff(option.get_name()) + "\\fR";
  if (TakesValue(option) && !option.get_type_name().empty() && !option.get_lnames().empty()) {
    std::string type = option.get_type_name();  // with its range: "N:in [1, 2]"
    std::ranges::replace(type, ':', ' ');
    names += " \\fI" + Roff(type) + "\\fR";
  }
  std::string text = ".TP\n" + names + "\n" + Roff(option.get_description());
  if (!option.get_default_str().empty()) {
    text += " (default: " + Roff(option.get_default_str()) + ")";
  }
  return text + "\n";
}

std::string ManPage(const CLI::App& app, const CLI::App& of) {
  const bool is_verb = &app != &of;
  const std::string name = is_verb ? "plush-" + of.get_name() : "plush";
  std::string text = ".TH " + name + " 1\n.SH NAME\n" + Roff(name) + " \\- " +
                     Roff(of.get_description()) + "\n.SH SYNOPSIS\n\\fBplush" +
                     (is_verb ? " " + of.get_name() : "") + "\\fR [\\fIOPTIONS\\fR]";
  for (const CLI::Option* option : of.get_options()) {
    if (NamesOf(*option).empty()) text += " \\fI" + Roff(option->get_name()) + "\\fR";
  }
  text += is_verb ? "\n" : " \\fIVERB\\fR\n.SH VERBS\n";
  if (!is_verb) {
    for (const CLI::App* verb : VerbsOf(app)) {
      text += ".TP\n\\fBplush\\-" + verb->get_name() + "\\fR(1)\n" + Roff(verb->get_description()) +
              "\n";
    }
  }
  std::string group;
  text += ".SH OPTIONS\n";
  for (const CLI::Option* option : of.get_options()) {
    if (option->get_group() != group && !option->get_group().empty() && is_verb) {
      text += ".SS " + Roff(option->get_group()) + "\n";
    }
    group = option->get_group();
    text += RoffOption(*option);
  }
  if (!of.get_footer().empty()) text += ".SH NOTES\n" + Roff(of.get_footer()) + "\n";
  return text;
}

}  // namespace

void AddManualCommands(CLI::App* app, int* exit_code) {
  auto shell = std::make_shared<std::string>();
  CLI::App* completion = app->add_subcommand(
      "completion", "Prints the completion of options for a shell: bash, zsh or fish.");
  completion->add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->type_name("")
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  completion->callback([app, shell, exit_code] {
    const std::string text = *shell == "bash"  ? BashCompletion(*app)
                             : *shell == "zsh" ? ZshCompletion(*app)
                                               : FishCompletion(*app);
    std::fputs(text.c_str(), stdout);
    *exit_code = static_cast<int>(ExitCode::kOk);
  });
  auto verb = std::make_shared<std::string>();
  CLI::App* manual = app->add_subcommand("man", "Prints the man page of plush, or of a verb.");
  manual->add_option("VERB", *verb, "a verb of plush")->type_name("");
  manual->callback([app, verb, exit_code] {
    const CLI::App* of = app;
    if (!verb->empty()) {
      const Verbs verbs = VerbsOf(*app);
      const auto it = std::ranges::find(verbs, *verb, &CLI::App::get_name);
      of = it != verbs.end() ? *it : nullptr;
      if (of == nullptr) throw CLI::ValidationError("VERB", "'" + *verb + "' is no verb of plush");
    }
    std::fputs(ManPage(*app, *of).c_str(), stdout);
    *exit_code = static_cast<int>(ExitCode::kOk);
  });
}

}  // namespace plush::tools
