// Package resume saves the progress of a long run in a folder, so that the same command continues from there
// after an interruption or a kill.
//
//  1. [Open] makes and locks the [Folder]: no two runs work in one. The lock goes with the
//     process, however that ends. Nobody else can read or write the states (package ownfile).
//  2. [Folder.OpenRun] opens the states of one part of a run, which an [Identity] describes: the
//     inputs, columns and options that shape it. It refuses states of any other run and names
//     the difference.
//  3. [Run.Save] replaces a state atomically, with checksums; [Run.Load] verifies them.
//     [Run.Due] paces the saves, so that they stay below 2 % of the time.
//  4. [Run.OpenStages] saves iterations over rows: their scratch files stay in the folder, with two
//     places for each record, so that a save records the valid places and copies nothing; data
//     in memory is copied.
//  5. [Folder.Forget] removes everything once the result is safe; [Folder.Close] leaves it.
//
// A nil *Folder and a nil *Run save nothing and contain nothing, so that callers need not check whether a checkpoint
// is wanted.
package resume
