// Package ownfile opens files under names that this program makes up, in folders where other users may write:
// temporaries, checkpoints, lists of finished files. Anybody may have put a file there first. So no link is
// followed, no pipe is waited for, and a file or folder is used only if it belongs to the user of the process
// and the file has no second name. The checks apply to the opened file, because another file may take the name
// at any time.
//
// Systems without Unix owners, such as Windows, have only the checks of links.
package ownfile
