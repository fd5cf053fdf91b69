package ufs

import (
	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// columnOptions are the options that say how the input's columns become features. They shape
// statistics, so that plans, statistics files and selections record them.
var columnOptions = []struct {
	name string
	of   func(q *Request) *bool
}{
	{"union-by-name", func(q *Request) *bool { return &q.UnionByName }},
}

const isTrue = "true" // of an option that is recorded

// shapeColumns adds the column options of q to those that shape statistics.
func (q *Request) shapeColumns(shape map[string]string) {
	for _, o := range columnOptions {
		if *o.of(q) {
			shape[o.name] = isTrue
		}
	}
}

// takeColumnOption sets a column option that was recorded; known is whether it is one.
func (q *Request) takeColumnOption(name, text string) (known bool) {
	for _, o := range columnOptions {
		if o.name == name {
			*o.of(q), known = text == isTrue, true
		}
	}
	return known
}

// fillColumns takes the column options that p has and q does not.
func (q *Request) fillColumns(p *Request) {
	for _, o := range columnOptions {
		*o.of(q) = *o.of(q) || *o.of(p)
	}
}

// columnOptionNames lists the column options.
func columnOptionNames() (names []string) {
	for _, o := range columnOptions {
		names = append(names, o.name)
	}
	return names
}

// readColumns adds the column options of q to those of reading.
func (q *Request) readColumns(opt *chunkio.Options) {
	opt.Union = q.UnionByName
}

// recordedColumns takes the column options that the selections record, which must be the same.
func (e *evaluator) recordedColumns() error {
	for i, s := range e.Selections {
		var q Request
		for _, name := range columnOptionNames() {
			q.takeColumnOption(name, method.Settings(s.Options).Text(name))
		}
		for _, o := range columnOptions {
			if i > 0 && *o.of(&q) != *o.of(&e.q) {
				return stream.Usagef("%s and %s were made with different %v, so of different features; judge each on its own", e.Selections[0].Path, s.Path, stream.Option(o.name))
			}
			*o.of(&e.q) = *o.of(&q)
		}
	}
	return nil
}
