package main

import (
	"maps"
	"slices"
	"strings"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/ufs-stream/ufs-stream/internal/app/condition"
	"github.com/ufs-stream/ufs-stream/internal/app/suggest"
	"github.com/ufs-stream/ufs-stream/stream"
)

// pruner derives from a condition weaker conditions that Iceberg can evaluate. If a weaker condition is false for a
// partition or file, the original condition is not true for any row in it. Parts of the condition that Iceberg may
// evaluate differently are left out.
type pruner struct {
	parsed  *condition.Condition
	columns map[string]iceberg.NestedField // columns that Iceberg may evaluate
	texts   map[string]int                 // ids of the text columns by which the table is partitioned
}

func newPruner(where string, schema *iceberg.Schema, meta table.Metadata) (*pruner, error) {
	if where == "" {
		return nil, nil
	}
	parsed, err := condition.Parse(where)
	if err != nil {
		return nil, err
	}
	p := &pruner{parsed, make(map[string]iceberg.NestedField), make(map[string]int)}
	var names []string
	for _, f := range schema.Fields() {
		names = append(names, f.Name)
		_, primitive := f.Type.(iceberg.PrimitiveType)
		_, text := f.Type.(iceberg.StringType)
		switch {
		case !primitive || !hasFixedType(f, meta.Schemas()):
		// iceberg-go 0.7.0 confuses the bound "" in the summary of a manifest with a missing bound, and skips the
		// manifest with its live files. So ufs-iceberg evaluates text partitions itself.
		case text && isPartitionSource(f.ID, meta.PartitionSpecs()):
			p.texts[f.Name] = f.ID
		default:
			p.columns[f.Name] = f
		}
	}
	for _, name := range parsed.Columns() {
		known := func(n string) bool {
			return name == n || strings.HasPrefix(name, n+".") || strings.HasPrefix(name, n+"[")
		}
		if !slices.ContainsFunc(names, known) {
			return nil, stream.Usagef("{where}: the table has no column %q%s", name, suggest.DidYouMean(name, names))
		}
	}
	return p, nil
}

func (p *pruner) keepColumnsOf(schema *iceberg.Schema) {
	if p == nil {
		return
	}
	maps.DeleteFunc(p.columns, func(name string, f iceberg.NestedField) bool {
		was, ok := schema.FindFieldByName(name)
		return !ok || was.ID != f.ID
	})
}

func isPartitionSource(id int, specs []iceberg.PartitionSpec) bool {
	return slices.ContainsFunc(specs, func(s iceberg.PartitionSpec) bool { return len(s.FieldsBySourceID(id)) > 0 })
}

// hasFixedType reports whether a column has the same type in all schemas in the table's metadata. Constants are
// converted to the present type of a column, and files written before a change have another type.
func hasFixedType(f iceberg.NestedField, history []*iceberg.Schema) bool {
	for _, s := range history {
		if was, ok := s.FindTypeByID(f.ID); ok && !was.Equals(f.Type) {
			return false
		}
	}
	return true
}

func (p *pruner) rowFilter() iceberg.BooleanExpression {
	if p == nil {
		return iceberg.AlwaysTrue{}
	}
	if e := p.implication(p.parsed.Root); e != nil {
		return e
	}
	return iceberg.AlwaysTrue{}
}

// implication returns an expression that is true if the node is true, or nil if there is none. An operand of AND can be
// left out, but no operand of OR. Under NOT there is such an expression only for IS NULL and for booleans. For other
// operands the negation of their expression would be wrong: if a comparison implies an expression, NOT of the
// comparison does not imply NOT of the expression. Besides, NOT of a comparison is true for NaN, which Iceberg's bounds
// ignore.
func (p *pruner) implication(n *condition.Node) iceberg.BooleanExpression {
	switch n.Op {
	case condition.IsLeaf:
		return p.comparisonFilter(&p.parsed.Leaves[n.Leaf])
	case condition.Not:
		if n.Args[0].Op == condition.IsLeaf {
			return p.negatedImplication(&p.parsed.Leaves[n.Args[0].Leaf])
		}
		return nil
	}
	var joined iceberg.BooleanExpression
	for _, arg := range n.Args {
		e := p.implication(arg)
		switch {
		case e == nil && n.Op == condition.Or:
			return nil
		case e == nil:
		case joined == nil:
			joined = e
		case n.Op == condition.And:
			joined = iceberg.NewAnd(joined, e)
		default:
			joined = iceberg.NewOr(joined, e)
		}
	}
	return joined
}

// negatedImplication returns an expression that is true if a comparison is false, or nil if there is none.
func (p *pruner) negatedImplication(l *condition.Leaf) iceberg.BooleanExpression {
	f, ok := p.columns[l.Column]
	if !ok {
		return nil
	}
	if l.Test == condition.IsNull {
		return iceberg.NotNull(iceberg.Reference(f.Name))
	}
	_, truth := f.Type.(iceberg.BooleanType)
	if truth && l.Test == condition.Equal && len(l.Constants) == 1 && l.Constants[0].Kind == condition.Truth {
		return iceberg.EqualTo(iceberg.Reference(f.Name), !l.Constants[0].Truth)
	}
	return nil
}

// comparisonFilter returns an expression that is true if a comparison is true, or nil if there is none.
func (p *pruner) comparisonFilter(l *condition.Leaf) iceberg.BooleanExpression {
	f, ok := p.columns[l.Column]
	if !ok {
		return nil
	}
	at := iceberg.Reference(f.Name)
	if l.Test == condition.IsNull {
		return iceberg.IsNull(at)
	}
	var either iceberg.BooleanExpression
	for i := range l.Constants {
		s, ok := constantSpan(f.Type, &l.Constants[i])
		if !ok {
			return nil
		}
		e := s.predicate(at, l.Test)
		if either == nil {
			either = e
		} else {
			either = iceberg.NewOr(either, e)
		}
	}
	return either
}

// predicate returns an expression about the column of the reference `at`. s is the span of a constant. The expression
// is true for every value that passes the test with this constant.
func (s span) predicate(at iceberg.Reference, test condition.Test) iceberg.BooleanExpression {
	one := s.low.Equals(s.high)
	switch {
	case one && test == condition.Less:
		return iceberg.LiteralPredicate(iceberg.OpLT, at, s.high)
	case test == condition.Less || test == condition.LessEqual:
		return iceberg.LiteralPredicate(iceberg.OpLTEQ, at, s.high)
	case one && test == condition.Greater:
		return iceberg.LiteralPredicate(iceberg.OpGT, at, s.low)
	case test == condition.Greater || test == condition.GreaterEqual:
		return iceberg.LiteralPredicate(iceberg.OpGTEQ, at, s.low)
	case one:
		return iceberg.LiteralPredicate(iceberg.OpEQ, at, s.low)
	}
	return iceberg.NewAnd(iceberg.LiteralPredicate(iceberg.OpGTEQ, at, s.low), iceberg.LiteralPredicate(iceberg.OpLTEQ, at, s.high))
}

// mayMatch reports whether a file may have a row for which the condition is true, judged by its text partitions
// (pruner.texts). identity contains the file's values of identity partitions, by column id.
func (p *pruner) mayMatch(identity map[int]any) bool {
	if p == nil || len(p.texts) == 0 {
		return true
	}
	mayBeTrue, _ := p.possibleOutcomes(p.parsed.Root, identity)
	return mayBeTrue
}

// possibleOutcomes reports whether a node may be true, and whether it may be false, for rows of a file. Both are false
// if a null makes the node unknown for all rows.
func (p *pruner) possibleOutcomes(n *condition.Node, identity map[int]any) (mayBeTrue, mayBeFalse bool) {
	switch n.Op {
	case condition.IsLeaf:
		return p.leafOutcomes(&p.parsed.Leaves[n.Leaf], identity)
	case condition.Not:
		mayBeTrue, mayBeFalse = p.possibleOutcomes(n.Args[0], identity)
		return mayBeFalse, mayBeTrue
	case condition.And:
		mayBeTrue = true
		for _, arg := range n.Args {
			yes, no := p.possibleOutcomes(arg, identity)
			mayBeTrue, mayBeFalse = mayBeTrue && yes, mayBeFalse || no
		}
	case condition.Or:
		mayBeFalse = true
		for _, arg := range n.Args {
			yes, no := p.possibleOutcomes(arg, identity)
			mayBeTrue, mayBeFalse = mayBeTrue || yes, mayBeFalse && no
		}
	}
	return mayBeTrue, mayBeFalse
}

// leafOutcomes is possibleOutcomes for a leaf of the condition: a comparison of a column with constants.
func (p *pruner) leafOutcomes(l *condition.Leaf, identity map[int]any) (mayBeTrue, mayBeFalse bool) {
	value, known := identity[p.texts[l.Column]]
	text, isText := value.(string)
	switch {
	case !known || value != nil && !isText:
		return true, true
	case l.Test == condition.IsNull:
		return value == nil, value != nil
	case value == nil:
		return false, false
	case slices.ContainsFunc(l.Constants, func(c condition.Constant) bool { return c.Kind != condition.Text }):
		return true, true // ufs-stream reports the error
	}
	holds := slices.ContainsFunc(l.Constants, func(c condition.Constant) bool {
		switch l.Test {
		case condition.Less:
			return text < c.Text
		case condition.LessEqual:
			return text <= c.Text
		case condition.Greater:
			return text > c.Text
		case condition.GreaterEqual:
			return text >= c.Text
		}
		return text == c.Text
	})
	return holds, !holds
}
