// Package ownfile opens what lies at a name that this program makes up, in a folder that other
// users may write: temporaries, checkpoints, lists of what is finished. Anybody may have put
// something there first. So no link is followed, no pipe is waited for, and a file or folder is
// used only if it belongs to the user that the process runs as and the file has no second name.
// What is checked is what was opened: a name may come to stand for something else at any time.
//
// Systems without owners in Unix's sense, as Windows, have the part of it that is about links.
package ownfile
