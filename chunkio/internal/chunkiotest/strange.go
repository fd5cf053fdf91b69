package chunkiotest

import (
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/dataset"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/settings"
)

// LogicalField returns the field of a SchemaElement that gives it the logical type with number id, in Thrift's compact
// protocol. The bytes `of` are the encoded parameters of the type.
func LogicalField(id byte, of ...byte) []byte {
	return slices.Concat([]byte{12, 10 << 1, 12, id << 1}, of, []byte{0, 0})
}

// TypesOf returns a text that lists the columns of a file with their types, and the reasons why they are not features.
func TypesOf(t *testing.T, path string) string {
	t.Helper()
	ds, err := dataset.OpenInputs(t.Context(), []string{path}, settings.Options{})
	formattest.Must(t, err)
	var words []string
	for f := range ds.Fields() {
		words = append(words, strings.TrimSpace(f.Name+" "+f.Type+" "+f.Why))
	}
	return strings.Join(words, ", ")
}
