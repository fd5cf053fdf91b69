package ufs

import (
	"context"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/internal/atomicfile"
)

// notInput refuses an Output that is one of the files which the request names, or one of others. Those that its
// folders, globs and lists stand for are compared when they are found ([chunkio.Dataset.NotInput]).
func (q *Request) notInput(ctx context.Context, others ...string) error {
	if q.Output == "" {
		return nil
	}
	return atomicfile.NotInput(ctx, q.Output, append(q.namedFiles(), others...)...)
}

// namedFiles are the places of all that the request names as a file, whether it is one or a folder.
func (q *Request) namedFiles() []string {
	files := []string{q.Plan, q.Stats, q.Options.Text("anchors-file")}
	for _, in := range q.Inputs {
		files = append(files, strings.TrimPrefix(in, "@"))
	}
	for _, text := range []string{q.Groups, q.Costs, q.Options.Text("tree")} {
		isKind := strings.HasPrefix(text, groupsPrefix) || strings.HasPrefix(text, groupsRegex) || isJSON([]byte(text)) // prefix: of a tree is alike
		if !isKind && !slices.Contains([]string{groupsLists, "image", "correlation"}, text) {
			files = append(files, text)
		}
	}
	return slices.DeleteFunc(files, func(file string) bool { return file == "" })
}
