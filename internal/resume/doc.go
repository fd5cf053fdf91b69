// Package resume saves the progress of a long run in a folder, so that the same command continues from there
// after an interruption or a kill.
//
//  1. [Open] makes and locks the [Folder], so that two runs never use the same folder. The lock ends with the
//     process, however the process ends. No other user can read or write the states (package ownfile).
//  2. [Folder.OpenRun] opens the states of one part of a run, which an [Identity] describes: the
//     inputs, columns and options that shape it. It refuses states of any other run and names
//     the difference.
//  3. The folder has one log (package journal) of the states of all parts. [Run.Save] writes a state to a file next to
//     it, and then a record with the file's name, length and checksum; [Run.Load] verifies them.
//     [Run.AppendState] writes a small state to the log itself. [Run.Due] limits the saves, so that they
//     take less than 2 % of the time. A damaged end of the log, and a missing file, are computed again.
//  4. [Run.OpenStages] saves iterations over rows. Their scratch files stay in the folder and have two
//     places for each record. A save records which places are valid, and copies no scratch file. It
//     copies only data in memory.
//  5. [Folder.Forget] removes everything once the result is safe; [Folder.Close] keeps the states.
//
// A nil *Folder and a nil *Run save nothing and contain nothing, so that callers need not check whether a checkpoint
// is wanted.
package resume
