//go:build !unix

package ownfile

import (
	"io/fs"
	"os"
)

const doNotWait = 0

// IsOurs cannot determine the owner: the system's own access lists decide, which files inherit from their
// folder.
func IsOurs(fs.FileInfo) bool { return true }

func hasOtherNames(fs.FileInfo) bool { return false }

// OthersRights returns none: modes here only show whether a file is read-only.
func OthersRights(fs.FileInfo) fs.FileMode { return 0 }

// CopyMode does nothing.
func CopyMode(*os.File, fs.FileInfo) error { return nil }
