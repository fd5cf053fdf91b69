// Package program is shared by the project's commands, such as ufs-stream and bench: it starts
// a program, refuses wrong arguments, reports errors and ends it.
//
//  1. [Main] ties a run to the process: its arguments, streams and signals.
//  2. [Program.Run] executes the cobra commands. Errors of flags and unknown verbs become
//     usage errors with a did-you-mean; a panic becomes exit code 1.
//  3. The error is reported on standard error, with options spelled as flags, and package
//     exit maps it to the exit code.
//
// A command is declared with [Group] if it only has subcommands, and with [NoArgs] or
// [AtLeastOne] otherwise; [Writer] and [Bytes] serve its output and its flags.
package program
