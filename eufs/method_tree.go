package eufs

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/ufs-stream/ufs-stream/internal/app/suggest"
	"github.com/ufs-stream/ufs-stream/internal/disk/localfile"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Values of the option tree for trees that are built from names or data.
const (
	imageTree       = "image"
	correlationTree = "correlation"
	prefixTree      = "prefix:" // and a separator
)

// CheckTree implements method.Grouped: it refuses options of the tree that are wrong for any input.
func (m *configuredMethod) CheckTree() error {
	tree := m.tree
	switch {
	case tree == "":
		return stream.Usagef("no {tree} given; want %s, %s, %sSEP or FILE.json", imageTree, correlationTree, prefixTree)
	case tree == imageTree || tree == correlationTree || namesTreeFile(tree):
		return nil
	case tree == prefixTree:
		return stream.Usagef("{tree} prefix: there is no separator; want prefix:SEP, as prefix:_")
	case strings.HasPrefix(tree, prefixTree):
		return nil
	}
	return stream.Usagef("{tree} %q: want %s, %s, %sSEP, or FILE.json%s", tree, imageTree, correlationTree, prefixTree,
		suggest.DidYouMean(tree, []string{imageTree, correlationTree, prefixTree}))
}

func namesTreeFile(option string) bool {
	if strings.EqualFold(filepath.Ext(option), ".json") {
		return true
	}
	_, err := os.Stat(option)
	return err == nil && !strings.HasPrefix(option, prefixTree)
}

// NeedsGram implements method.Grouped: only a correlation tree needs the Gram matrix.
func (m *configuredMethod) NeedsGram() bool { return m.tree == correlationTree }

// Tree implements method.Grouped: it makes the tree that the option tree describes.
func (m *configuredMethod) Tree(e *method.Evidence) (method.Tree, error) {
	return m.buildTree(e.Names(), e.LeftOut, gramNumbersOf(e))
}

// growTree returns the tree over the features of the evidence, or nil if no tree is set. It works on a copy of the Gram
// matrix, because the matrix itself later explains the selection.
func (m *configuredMethod) growTree(e *method.Evidence) (*Tree, error) {
	sym := gramNumbersOf(e)
	if sym != nil {
		own := room.MakeSlice[float64](len(sym))
		copy(own, sym)
		sym = own
	}
	return m.buildTree(e.Names(), e.LeftOut, sym)
}

func gramNumbersOf(e *method.Evidence) []float64 {
	if e.Gram == nil {
		return nil
	}
	return e.Gram.Sym
}

// buildTree returns the tree over the named features, or nil if no tree is set. sym is the Gram matrix of the centred
// columns. Only a correlation tree uses it, and overwrites it.
func (m *configuredMethod) buildTree(names []string, leftOut []stream.LeftOut, sym []float64) (*Tree, error) {
	separator, prefix := strings.CutPrefix(m.tree, prefixTree)
	switch {
	case m.tree == "":
		return nil, nil
	case m.tree == imageTree:
		return ImageTree(names)
	case m.tree == correlationTree:
		if sym == nil {
			return nil, stream.Dataf("", "{tree} correlation: a column's sum of squares overflows; scale the values down")
		}
		return CorrelationTree(sym, len(names))
	case prefix:
		return PrefixTree(names, separator)
	}
	return readTreeFile(m.tree, names, leftOut)
}

func readTreeFile(path string, names []string, leftOut []stream.LeftOut) (*Tree, error) {
	b, err := localfile.ReadAll(path)
	if err != nil {
		return nil, &stream.DataError{Path: path, RowGroup: -1, Row: -1, Err: err, Remedy: stream.PlainText("ufs-stream tree makes such a file")}
	}
	left := make([]string, len(leftOut))
	for i, l := range leftOut {
		left[i] = l.Name
	}
	t, err := ReadTree(bytes.NewReader(b), names, left)
	var usage *stream.UsageError
	if errors.As(err, &usage) { // the fault is in the file, not in an argument
		return nil, stream.Dataf(path, "%s", strings.TrimPrefix(usage.String(), "tree: "))
	}
	return t, err
}

// plannedTree returns a tree of at least as many entries as the run's own tree, for planning before data is read.
func (m *configuredMethod) plannedTree(names []string, leftOut []stream.LeftOut) (*Tree, error) {
	if m.NeedsGram() {
		return &Tree{Features: make([]int, CorrelationEntries(len(names)))}, nil
	}
	return m.buildTree(names, leftOut, nil)
}
