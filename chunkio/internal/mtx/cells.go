package mtx

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"strings"

	"github.com/ufs-stream/ufs-stream/stream"
)

// CellRanger writes a folder of three files, any of which may be compressed: matrix.mtx, barcodes.tsv with the names of
// the cells, and features.tsv (genes.tsv in its version 2) with an identifier, a symbol and, from version 3 on, a type
// on each line. In public archives the three names often have a common prefix.

// Folder contains the paths of the files that belong to a matrix of CellRanger.
type Folder struct{ Features, Barcodes string }

const (
	matrixName  = "matrix.mtx"
	barcodeName = "barcodes.tsv"
)

var featureNames = []string{"features.tsv", "genes.tsv"}

func cutFileName(path string, names ...string) (before string, ok bool) {
	trimmed := strings.TrimSuffix(path, ".gz")
	for _, name := range names {
		if before, ok = strings.CutSuffix(trimmed, name); ok && (before == "" || strings.IndexByte(`/\_.-`, before[len(before)-1]) >= 0) {
			return before, true
		}
	}
	return "", false
}

func findFile(exists func(path string) bool, before string, names ...string) string {
	for _, name := range names {
		for _, ending := range []string{".gz", ""} {
			if exists(before + name + ending) {
				return before + name + ending
			}
		}
	}
	return ""
}

// FindFolder returns the files that name the features and cells of a matrix, or nil if one of them is missing.
func FindFolder(matrix string, exists func(path string) bool) *Folder {
	before, ok := cutFileName(matrix, matrixName)
	if !ok {
		return nil
	}
	f := &Folder{findFile(exists, before, featureNames...), findFile(exists, before, barcodeName)}
	if f.Features == "" || f.Barcodes == "" {
		return nil
	}
	return f
}

// NamesFeatures reports whether the file only names the features or the cells of a matrix that CellRanger wrote.
func NamesFeatures(file string, exists func(path string) bool) bool {
	before, ok := cutFileName(file, append(featureNames, barcodeName)...)
	if !ok {
		return false
	}
	matrix := findFile(exists, before, matrixName)
	return matrix != "" && FindFolder(matrix, exists) != nil
}

// Features are the features of a matrix that CellRanger wrote, in the order of their numbers.
type Features struct {
	Names  []string
	Asides []string // why a feature is used only if its name is asked for; empty for genes, and nil if all are genes
	Digest uint64   // of the text
}

// geneType is the type of features that are genes. In a file of version 2, all are.
const geneType = "Gene Expression"

// lineBytes is the memory of a feature without its text: its strings, and its entries in the map of names.
const lineBytes = 200

// ParseFeatures reads features.tsv or genes.tsv, using at most limit bytes. A gene is named by its symbol. If several
// have this symbol, each is named SYMBOL.ID. A feature of another type than the genes is named TYPE.SYMBOL.
func ParseFeatures(name string, text io.Reader, limit int64) (*Features, error) {
	digest := fnv.New64a()
	var ids, symbols, types []string
	count, held := map[string]int{}, int64(0)
	main := ""
	err := readLines(name, io.TeeReader(text, digest), func(line int, text string) error {
		fields := strings.Split(text, "\t")
		if fields[0] == "" {
			return errAtLine(name, line, "there is no identifier")
		}
		if held += lineBytes + 3*int64(len(text)); held > limit {
			return &stream.MemoryError{What: "the names of the features in " + name, Need: held, Limit: limit, AtLeast: true}
		}
		id, symbol, typ := fields[0], fields[0], geneType
		if len(fields) > 1 && fields[1] != "" {
			symbol = fields[1]
		}
		if len(fields) > 2 && fields[2] != "" {
			typ = fields[2]
		}
		if main == "" || typ == geneType {
			main = typ
		}
		ids, symbols, types = append(ids, id), append(symbols, symbol), append(types, typ)
		return nil
	})
	if err != nil {
		return nil, err
	}
	f := &Features{Names: symbols, Digest: digest.Sum64()}
	for i, typ := range types {
		if typ != main {
			f.Names[i] = typ + "." + f.Names[i]
		}
		count[f.Names[i]]++
	}
	lines := make(map[string]int, len(ids))
	for i, symbol := range f.Names {
		if count[symbol] > 1 {
			f.Names[i] += "." + ids[i]
		}
		if before, ok := lines[f.Names[i]]; ok {
			e := errAtLine(name, i+1, "the feature %.80q is already in line %d", f.Names[i], before)
			e.Remedy = stream.PlainText("give each feature an identifier of its own")
			return nil, e
		}
		lines[f.Names[i]] = i + 1
		if types[i] != main {
			if f.Asides == nil {
				f.Asides = make([]string, len(ids))
			}
			f.Asides[i] = fmt.Sprintf("a feature of type %s, not %s: to use it, name it among the columns", types[i], main)
		}
	}
	return f, nil
}

// CountBarcodes counts the cells of barcodes.tsv.
func CountBarcodes(name string, text io.Reader) (cells int, err error) {
	err = readLines(name, text, func(line int, text string) error {
		if cells = line; text == "" {
			return errAtLine(name, line, "there is no barcode")
		}
		return nil
	})
	return cells, err
}

func errAtLine(name string, line int, text string, args ...any) *stream.DataError {
	return stream.Dataf(name, "line %d: "+text, append([]any{line}, args...)...)
}

const maxLine = 64 << 10

func readLines(name string, text io.Reader, f func(line int, text string) error) error {
	lines, n := bufio.NewScanner(text), 0
	lines.Buffer(make([]byte, 0, maxLine), maxLine)
	for lines.Scan() {
		n++
		if err := f(n, string(bytes.TrimSuffix(lines.Bytes(), []byte("\r")))); err != nil {
			return err
		}
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return errAtLine(name, n+1, "longer than %d bytes", maxLine)
	} else if err != nil {
		return errAtLine(name, n+1, "%w", err)
	}
	return nil
}
