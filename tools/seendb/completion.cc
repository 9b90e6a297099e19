// seendb completion SHELL: the script by which a shell completes the tool's command lines.

#include <memory>
#include <string>

#include "commands.h"
#include "completion_script.h"

namespace seendb::tool {

void AddCompletion(Command app, Session& session) {
  auto shell = std::make_shared<std::string>();
  Command command = AddCommand(
      app, session, "completion", "Print the script by which a shell completes command lines",
      Takes::kNothing, [app, shell] {
        const CommandTree tree = app.Describe();
        return Print(*shell == "zsh" ? ZshCompletion(tree) : BashCompletion(tree));
      });
  command.Add("shell", *shell, "bash or zsh").Required().OneOf({"bash", "zsh"}).TypeName("SHELL");
  command.Examples({"source <(seendb completion bash)  # for the shell that runs now",
                    "seendb completion zsh > _seendb   # into a folder of $fpath"});
}

}  // namespace seendb::tool
