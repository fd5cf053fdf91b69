//go:build !unix

package ownfile

import (
	"io/fs"
	"os"
)

const doNotWait = 0

// IsOurs cannot tell whose a file is: access is by lists of the system's own, which files
// inherit from their folder.
func IsOurs(fs.FileInfo) bool { return true }

func hasOtherNames(fs.FileInfo) bool { return false }

// OthersRights are none: modes here tell only whether a file is read-only.
func OthersRights(fs.FileInfo) fs.FileMode { return 0 }

// KeepMode does nothing.
func KeepMode(*os.File, fs.FileInfo) error { return nil }
