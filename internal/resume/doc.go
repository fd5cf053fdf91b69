// Package resume keeps what a long run has come to in a folder, so that the same command
// goes on from there after an interruption or a kill.
//
//  1. [Open] makes and locks the [Folder]: no two runs work in one. The lock goes with the
//     process, however that ends. Nobody else can read or write what is saved (package ownfile).
//  2. [Folder.Run] opens the states of one part of a run, which an [Identity] describes: the
//     inputs, columns and options that shape it. States of anything else are refused by the
//     name of what differs.
//  3. [Run.Save] replaces a state at once and whole, checksummed; [Run.Load] verifies it.
//     [Run.Due] paces them, so that saving stays below 2 % of the time.
//  4. [Run.Stages] keeps iterations over rows: their scratch files stay in the folder, in two
//     places for each record, so that a save names what there is and copies nothing; what
//     lies in memory is copied.
//  5. [Folder.Forget] removes all of it once the result is safe; [Folder.Close] leaves it.
//
// A nil *Folder and a nil *Run save nothing and hold nothing, so that callers need not ask
// whether a checkpoint is wanted.
package resume
