package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// layouts are partitions by every kind of transform that a plan prunes by.
func layouts() map[string]*iceberg.PartitionSpec {
	spec := func(fields ...iceberg.PartitionField) *iceberg.PartitionSpec {
		s := iceberg.NewPartitionSpec(fields...)
		return &s
	}
	by := func(column, id int, name string, t iceberg.Transform) iceberg.PartitionField {
		return iceberg.PartitionField{SourceIDs: []int{column}, FieldID: id, Name: name, Transform: t}
	}
	return map[string]*iceberg.PartitionSpec{
		"none":     nil,
		"identity": spec(by(7, 1000, "day", iceberg.IdentityTransform{}), by(5, 1001, "ok", iceberg.IdentityTransform{})),
		"times":    spec(by(8, 1000, "at_hour", iceberg.HourTransform{}), by(7, 1001, "day_month", iceberg.MonthTransform{})),
		"buckets":  spec(by(6, 1000, "site_bucket", iceberg.BucketTransform{NumBuckets: 3}), by(2, 1001, "qty_bucket", iceberg.BucketTransform{NumBuckets: 2})),
		"truncate": spec(by(6, 1000, "site_trunc", iceberg.TruncateTransform{Width: 1}), by(1, 1001, "id_trunc", iceberg.TruncateTransform{Width: 7000})),
		"texts":    spec(by(6, 1000, "site", iceberg.IdentityTransform{})),
		"prices":   spec(by(10, 1000, "price", iceberg.IdentityTransform{})),
		"cents":    spec(by(10, 1000, "price_trunc", iceberg.TruncateTransform{Width: 7})),
		"decimal":  spec(by(10, 1000, "price_bucket", iceberg.BucketTransform{NumBuckets: 4}), by(9, 1001, "utc_day", iceberg.DayTransform{})),
	}
}

// someCondition is a random condition on the events, which is true of some rows now and then.
func someCondition(rng *rand.Rand, depth int) string {
	if depth > 0 && rng.IntN(3) > 0 {
		a, b := someCondition(rng, depth-1), someCondition(rng, depth-1)
		switch rng.IntN(5) {
		case 0:
			return "not (" + a + ")"
		case 1, 2:
			return "(" + a + " or " + b + ")"
		}
		return "(" + a + " and " + b + ")"
	}
	near := rng.IntN(44)
	day := fmt.Sprintf("2026-01-%02d", 1+near/4)
	clock := fmt.Sprintf("%02d:00:00", near%4*6)
	constants := map[string][]string{
		"id": {fmt.Sprint(1000 * near), fmt.Sprintf("%d.5", 1000*near)}, "qty": {fmt.Sprint(near - 20), fmt.Sprintf("%d.5", near-20), "3000000000"},
		"score": {fmt.Sprintf("%.1f", float64(near)/10-2), fmt.Sprintf("%.3f", float64(near)/10-2.001)}, "narrow": {fmt.Sprintf("%.1f", float64(near)/10)},
		"site": {"'a'", "'köln'", "'b'", "''", "'zz'"}, "day": {"'" + day + "'"},
		"at": {"'" + day + "T" + clock + "'", "'" + day + "'", "'" + day + "T" + clock + ".000001500'"}, "utc": {"'" + day + " " + clock + "Z'", "'" + day + "T" + clock + "+02:00'"},
		"price": {fmt.Sprintf("%.2f", float64(near)/100-0.2), fmt.Sprintf("%.3f", float64(near)/100-0.205)}, "ok": {"true", "false"},
	}
	columns := []string{"id", "qty", "score", "narrow", "site", "day", "at", "utc", "price", "ok"}
	column := columns[rng.IntN(len(columns))]
	some := constants[column]
	one := func() string { return some[rng.IntN(len(some))] }
	switch rng.IntN(8) {
	case 0:
		return column + " is null"
	case 1:
		return column + " is not null"
	case 2:
		return column + " in (" + one() + ", " + one() + ")"
	}
	if column == "ok" {
		return column + " = " + one()
	}
	return column + " " + []string{"<", "<=", ">", ">=", "=", "!="}[rng.IntN(6)] + " " + one()
}

// Whatever the condition and the partitions: the rows of the plan for which it is true are those
// of all rows, written to one file by hand. Many conditions leave files out.
func TestPruningLosesNoRow(t *testing.T) {
	rng := rand.New(rand.NewPCG(14, 14))
	pruned, nonempty := 0, 0
	for name, spec := range layouts() {
		t.Run(name, func(t *testing.T) {
			s := local(t, events(), spec, nil)
			var rows []row
			for range 4 {
				more := someEvents(rng, 60)
				rows = append(rows, more...)
				s.append(more)
			}
			hand := byHand(t, events(), rows)
			dir := s.current.Location()
			_, all := readPlan(t, mustPlan(t, dir))
			for range 30 {
				where := someCondition(rng, 2)
				want, wantSaid := selectFeatures(t, hand, "--where", where)
				plan, said := tryPlan(t, dir, "--where", where)
				if plan == "" { // all files left out, which must be right
					if !strings.Contains(said, "leaves none of the data files") || !strings.Contains(wantSaid, "no row is left") {
						t.Errorf("%s: %q, and by hand there are %d rows, %q", where, said, want.Rows, wantSaid)
					}
					continue
				}
				got, gotSaid := selectFeatures(t, "--plan", plan)
				if gotSaid == "" && wantSaid == "" {
					sameSelection(t, where, got, want)
					nonempty++
				} else if (gotSaid == "") != (wantSaid == "") {
					t.Errorf("%s: by the plan %d rows, %q; by hand %d rows, %q", where, got.Rows, gotSaid, want.Rows, wantSaid)
				}
				if h, files := readPlan(t, plan); len(files) < len(all) {
					pruned++
				} else if h.Options["where"] != where {
					t.Errorf("the plan's condition is %q, not %q", h.Options["where"], where)
				}
			}
		})
	}
	if pruned < 40 || nonempty < 60 {
		t.Errorf("files were left out in %d plans, and %d had rows: the test says little", pruned, nonempty)
	}
}

// tryPlan is a plan's path, or what the program said.
func tryPlan(t *testing.T, args ...string) (path, said string) {
	t.Helper()
	path = t.TempDir() + "/t.plan.json"
	if code, said := planOf(t, append(args, "-o", path)...); code != 0 {
		return "", said
	}
	return path, ""
}

// What Iceberg is asked, for conditions of which only a part can be said to it.
func TestImplied(t *testing.T) {
	schema := events()
	meta := must.Get(table.NewMetadata(schema, nil, table.UnsortedSortOrder, "/t", nil))(t)
	for where, want := range map[string]string{
		`qty < 5`:                       `LessThan(term=Reference(name='qty'), literal=5)`,
		`qty < 5.5`:                     `LessThanEqual(term=Reference(name='qty'), literal=6)`,
		`qty > 5.5`:                     `GreaterThanEqual(term=Reference(name='qty'), literal=5)`,
		`qty > 3000000000`:              `AlwaysTrue()`,
		`not qty < 5`:                   `AlwaysTrue()`,
		`qty != 5`:                      `AlwaysTrue()`,
		`qty is not null`:               `NotNull(term=Reference(name='qty'))`,
		`not (qty = 5 or ok)`:           `AlwaysTrue()`,
		`not ok`:                        `Equal(term=Reference(name='ok'), literal=false)`,
		`qty = 5 and not site = "a"`:    `Equal(term=Reference(name='qty'), literal=5)`,
		`qty = 5 or qty != 6`:           `AlwaysTrue()`,
		`ok`:                            `Equal(term=Reference(name='ok'), literal=true)`,
		`ok = 1`:                        `AlwaysTrue()`,
		`day = "2026-01-02"`:            `Equal(term=Reference(name='day'), literal=2026-01-02)`,
		`day = 20260102`:                `AlwaysTrue()`,
		`price <= 0.5`:                  `LessThanEqual(term=Reference(name='price'), literal=0.50)`,
		`price = 99999999`:              `AlwaysTrue()`,
		`at = "2026-01-01T00:00Z"`:      `AlwaysTrue()`,
		`score > 1e300`:                 `AlwaysTrue()`,
		`score = "inf"`:                 `AlwaysTrue()`,
		`qty = 5 and (day = "x" or ok)`: `Equal(term=Reference(name='qty'), literal=5)`,
	} {
		p := must.Get(newPruner(where, schema, meta))(t)
		if got := p.rowFilter().String(); got != want {
			t.Errorf("%s: %s, want %s", where, got, want)
		}
	}
	// A column whose type was another one once is not pruned by.
	wider := local(t, events(), nil, nil)
	wider.change(func(tx *table.Transaction) error {
		return tx.UpdateSchema(true, false).UpdateColumn([]string{"qty"}, table.ColumnUpdate{FieldType: iceberg.Optional[iceberg.Type]{Valid: true, Val: iceberg.PrimitiveTypes.Int64}}).Commit()
	})
	if got := must.Get(newPruner("qty = 5", wider.current.Schema(), wider.current.Metadata()))(t).rowFilter(); !got.Equals(iceberg.AlwaysTrue{}) {
		t.Errorf("a widened column is pruned by: %s", got)
	}
	if _, err := newPruner("scoer = 5", schema, meta); err == nil || !strings.Contains(err.Error(), "did you mean score?") {
		t.Errorf("misspelt column: got %v, want a suggestion of score", err)
	}
}
