//go:build !unix

package ownfile

import (
	"io/fs"
	"os"
)

const doNotWait = 0

// IsOurs returns true, because it cannot determine the owner. Files are protected by the access lists of the system
// instead, which they inherit from their folder.
func IsOurs(fs.FileInfo) bool { return true }

func hasOtherNames(fs.FileInfo) bool { return false }

// OthersRights returns no rights: on these systems a mode only shows whether a file is read-only.
func OthersRights(fs.FileInfo) fs.FileMode { return 0 }

// CopyMode does nothing.
func CopyMode(*os.File, fs.FileInfo) error { return nil }
