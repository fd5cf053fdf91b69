// Package program has the code that the project's commands, such as ufs-stream and bench, share. It starts a command,
// checks its arguments, reports its error and returns its exit code:
//
//  1. [Main] passes the arguments, streams and signals of the process to a function that runs the command.
//  2. [Program.Run] executes the cobra commands. Errors of flags and unknown verbs become usage errors that suggest a
//     similar name. A panic becomes exit code 1.
//  3. The error is reported on standard error, with options spelled as flags. Package exit maps it to the exit code.
//
// A command is declared with [MakeGroup] if it only has subcommands, and with [NoArgs] or [AtLeastOne] otherwise. It
// writes its output with [Writer], and declares flags of type [Bytes] and [Moment].
package program
