package eufs

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/internal/app/suggest"
	"github.com/ufs-stream/ufs-stream/internal/disk/localfile"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Values of the option tree for trees that are built from names or data.
const (
	autoTree        = "auto" // see chosenTree
	noTree          = "none"
	imageTree       = "image"
	correlationTree = "correlation"
	prefixTree      = "prefix:" // and a separator
)

// CheckTree implements method.Grouped: it refuses options of the tree that describe no tree for any input.
func (m *configuredMethod) CheckTree() error {
	if m.tree == autoTree || m.tree == noTree {
		return stream.Usagef("no {tree} given; want %s, %s, %sSEP or FILE.json", imageTree, correlationTree, prefixTree)
	}
	return m.checkTreeOption("")
}

func (m *configuredMethod) checkTreeOption(string) error {
	tree, kinds := m.tree, []string{autoTree, noTree, imageTree, correlationTree, prefixTree}
	switch {
	case slices.Contains(kinds[:4], tree) || namesTreeFile(tree):
		return nil
	case tree == prefixTree:
		return stream.Usagef("{tree} prefix: there is no separator; want prefix:SEP, as prefix:_")
	case strings.HasPrefix(tree, prefixTree):
		return nil
	}
	return stream.Usagef("{tree} %q: want %s, %sSEP, or FILE.json%s", tree, strings.Join(kinds[:4], ", "), prefixTree, suggest.DidYouMean(tree, kinds))
}

// maxAutoCorrelation is the largest number of features for which the default tree is one of correlations. It needs twice
// 8·d² bytes, 1.5 GiB for this number. The number alone decides, so that a memory limit never changes a result.
const maxAutoCorrelation = 10_000

// chosenTree returns the kind of tree for the named features: the one of the option, or, if that is auto, image if the
// names are names of pixels, else correlation, and none for more than maxAutoCorrelation features.
func (m *configuredMethod) chosenTree(names []string) string {
	if m.tree != autoTree {
		return m.tree
	}
	if _, err := ImageTree(names); err == nil {
		return imageTree
	}
	if len(names) <= maxAutoCorrelation {
		return correlationTree
	}
	return noTree
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

// growTree returns the tree over the features of the evidence, or nil if there is none. It works on a copy of the Gram
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

// buildTree returns the tree over the named features, or nil if there is none. sym is the Gram matrix of the centred
// columns. Only a correlation tree uses it, and overwrites it.
func (m *configuredMethod) buildTree(names []string, leftOut []stream.LeftOut, sym []float64) (*Tree, error) {
	tree := m.chosenTree(names)
	separator, prefix := strings.CutPrefix(tree, prefixTree)
	switch {
	case tree == noTree, m.tree == autoTree && tree == correlationTree && sym == nil: // constant columns left fewer features than planned
		return nil, nil
	case tree == imageTree:
		return ImageTree(names)
	case tree == correlationTree:
		if sym == nil {
			return nil, stream.Dataf("", "{tree} correlation: a column's sum of squares overflows; scale the values down")
		}
		return CorrelationTree(sym, len(names))
	case prefix:
		return PrefixTree(names, separator)
	}
	return readTreeFile(tree, names, leftOut)
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
	if m.chosenTree(names) == correlationTree {
		return &Tree{Features: make([]int, CorrelationEntries(len(names)))}, nil
	}
	return m.buildTree(names, leftOut, nil)
}
