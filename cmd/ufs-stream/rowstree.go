package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/ufs-stream/ufs-stream/eufs"
	"github.com/ufs-stream/ufs-stream/stream"
)

// isTreeFile says whether --tree names a file rather than a kind of tree.
func isTreeFile(tree string) bool {
	if strings.EqualFold(filepath.Ext(tree), ".json") {
		return true
	}
	_, err := os.Stat(tree)
	return err == nil && !strings.HasPrefix(tree, "prefix:")
}

// buildTree is the tree of --tree over the features of f, nil without the flag. sym is
// the Gram matrix of the centred columns, for a correlation tree.
func (r *request) buildTree(f rowsFrame, sym []float64) (*eufs.Tree, error) {
	tree := r.method.rows.tree
	separator, prefix := strings.CutPrefix(tree, "prefix:")
	switch {
	case tree == "":
		return nil, nil
	case tree == "image":
		return eufs.ImageTree(f.names)
	case tree == "correlation":
		if sym == nil {
			return nil, stream.Dataf("", "--tree correlation: a column's sum of squares overflows; scale the values down")
		}
		return eufs.CorrelationTree(sym, len(f.names))
	case prefix:
		return eufs.PrefixTree(f.names, separator)
	}
	return readTree(tree, f)
}

// readTree reads the tree in a file.
func readTree(path string, f rowsFrame) (*eufs.Tree, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, &stream.DataError{Path: path, RowGroup: -1, Row: -1, Err: errors.Unwrap(err), Remedy: stream.Textf("ufs-stream tree makes such a file")}
	}
	t, err := eufs.ReadTree(bytes.NewReader(b), f.names, f.leftOut)
	var usage *stream.UsageError
	if errors.As(err, &usage) { // here it is a file that is bad
		return nil, stream.Dataf(path, "%s", strings.TrimPrefix(usage.String(), "tree: "))
	}
	return t, err
}

// plannedTree is as large as the tree will be at most, built before the data is read.
func (r *request) plannedTree(f rowsFrame) (*eufs.Tree, error) {
	if r.method.rows.tree != "correlation" {
		return r.buildTree(f, nil)
	}
	d := len(f.names)
	return &eufs.Tree{Features: make([]int, eufs.CorrelationEntries(d))}, nil
}
