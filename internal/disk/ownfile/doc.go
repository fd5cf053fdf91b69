// Package ownfile opens files whose names this program makes up, in folders in which other users may write:
// temporaries, checkpoints, lists of finished files. Another user may have put a file there first. So links are not
// followed, opening does not wait for pipes, and a file or folder is used only if it belongs to the user of the
// process. A file must have only one name, i.e. no second hard link. The checks apply to the opened file, because
// another file may get the name at any time.
//
// On systems without Unix owners, such as Windows, only links are checked.
package ownfile
