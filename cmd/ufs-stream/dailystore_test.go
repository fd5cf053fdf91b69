package main

import (
	"fmt"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/cloud/store/storetest"
	"github.com/ufs-stream/ufs-stream/internal/testing/planted"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
)

// storeDays scans days into a bucket and into local files. The folders of the bucket are in the
// opposite order of the days, so that the order of whole URLs is another one.
func storeDays(t *testing.T, s *storetest.Server, endpoint string, n int) (there, here []string, at func(string) string) {
	t.Helper()
	at = folder(t)
	for day := 1; day <= n; day++ {
		dir := dailyPartition(t, at("data"), day, day >= n)
		here = append(here, at(dayName(day)+".ufs"))
		there = append(there, s.URLAt(endpoint, fmt.Sprintf("stats/%c/%s.ufs", 'z'-day, dayName(day))))
		must(t, "scan", dir, "-o", here[day-1])
		must(t, "scan", dir, "-o", there[day-1])
	}
	return there, here, at
}

// inBucket is what an object of the server is, as bytes.
func inBucket(t *testing.T, s *storetest.Server, key string) string {
	t.Helper()
	return read(t, filepath.Join(s.Dir, filepath.FromSlash(key)))
}

// TestDailyInAStore: the daily batch in a bucket is that on the disk. Days are ordered by the
// base names of their keys, totals go on from day to day, and check and diff say the same.
func TestDailyInAStore(t *testing.T) {
	s := storetest.S3(t)
	there, here, at := storeDays(t, s, s.Endpoint, 4)
	key := func(name string) string { return s.URL("totals/" + name) }
	for name, flags := range map[string][]string{
		"window.ufs": {"--window", "3"}, "decay.ufs": {"--decay", "0.7"}, "both.ufs": {"--window", "2", "--decay", "0.7"}, "all.ufs": nil,
	} {
		must(t, slices.Concat([]string{"merge", "-o", at(name)}, flags, here)...)
		from := []string{s.URL("stats/*/*.ufs")}
		if flags == nil {
			from = there // in the order given
		}
		r := invoke(slices.Concat([]string{"merge", "-v", "-o", key(name)}, flags, from)...)
		tells(t, s, r)
		if r.code != exit.Done || inBucket(t, s, "totals/"+name) != read(t, at(name)) {
			t.Errorf("%s: exit code %d, or the total in the store is another one\n%s", name, r.code, r.err)
		}
		if name == "both.ufs" && (strings.Count(r.err, "outside the window of 2: s3://lake/stats/") != 2 || !strings.Contains(r.err, "merged 2 statistics files")) {
			t.Errorf("%s: it says\n%s", name, r.err)
		}
	}
	// Day by day: yesterday's total goes first, whatever its name.
	total := key("zzz-total.ufs")
	must(t, "merge", "--decay", "0.7", there[0], "-o", total)
	for _, day := range there[1:] {
		must(t, "merge", "--decay", "0.7", day, total, "-o", total)
	}
	if inBucket(t, s, "totals/zzz-total.ufs") != read(t, at("decay.ufs")) {
		t.Error("day by day gives another total than all at once")
	}
	for stats, place := range map[string]func(string) string{here[0]: at, there[0]: key} {
		must(t, "select", "--stats", stats, "-k", "5", "-o", place("old.json"))
		must(t, "select", "--stats", place("both.ufs"), "-k", "5", "-o", place("new.json"))
	}
	want, code := verdictOf(t, "--selection", at("old.json"), "--stats", here[3], "--baseline", at("all.ufs"))
	got, gotCode := verdictOf(t, "--selection", key("old.json"), "--stats", there[3], "--baseline", key("all.ufs"))
	if code != exit.Stale || gotCode != code || got.Transfer == nil || want.Transfer != nil {
		t.Errorf("exit code %d here and %d there; transfers %v, %v", code, gotCode, want.Transfer, got.Transfer)
	}
	size := int64(len(read(t, here[3])) + len(read(t, at("all.ufs"))))
	if x := got.Transfer; x != nil && (x.Fetched < size || x.Fetched > size+1000 || x.Requests > 4) {
		t.Errorf("check fetched %+v of %d bytes in two files", *x, size)
	}
	got.Transfer = nil
	if x, y := marshal(t, want), marshal(t, got); x != y {
		t.Errorf("the verdict here is %s\nthere %s", x, y)
	}
	r := invoke("check", "--selection", key("old.json"), "--stats", there[3], "-o", key("verdict.json"))
	if r.code != exit.Stale || !strings.Contains(inBucket(t, s, "totals/verdict.json"), ufs.VerdictSchema) {
		t.Errorf("exit code %d: %s", r.code, r.err)
	}
	tells(t, s, r)
	if r := invoke("check", "--selection", key("old.json"), "--stats", there[3]); !strings.Contains(r.out, "\nfetched ") {
		t.Errorf("the table does not say what was fetched:\n%s", r.out)
	}
	must(t, "diff", at("old.json"), at("new.json"), "-o", at("diff.json"))
	must(t, "diff", key("old.json"), key("new.json"), "-o", key("diff.json"))
	d := decoded[ufs.Difference](t, "diff", key("old.json"), at("new.json"))
	if inBucket(t, s, "totals/diff.json") != read(t, at("diff.json")) || len(d.Came) == 0 || !slices.Contains(d.Settings, ufs.Setting{Option: "window", New: "2"}) {
		t.Errorf("the difference in the store is another one, or none: %+v", d)
	}
	ends(t, exit.Usage, "would replace the input", "diff", key("old.json"), key("new.json"), "--format", "json", "-o", key("new.json"))
	ends(t, exit.Usage, "would replace the input", "check", "--selection", at("old.json"), "--stats", there[3], "--format", "json", "-o", there[3])
	ends(t, exit.Data, "no such object", "check", "--selection", key("old.json"), "--stats", key("absent.ufs"))
	ends(t, exit.Data, "no such object", "diff", key("old.json"), key("absent.json"))
	ends(t, exit.Usage, "both cover rows", "merge", there[0], there[1], there[1], "-o", key("x.ufs"))
	ends(t, exit.Usage, "merge them with --decay 0.7", "merge", there[0], total, "-o", key("x.ufs"))
	ends(t, exit.Usage, "both decayed totals", "merge", "--decay", "0.7", total, key("decay.ufs"), "-o", key("x.ufs"))
}

// aHeader is the most that is fetched to see the header of statistics of 300 columns: it is shorter
// than the first read of 64 KiB.
const aHeader = 64 << 10

// fetchedOf counts requests for statistics, and the bytes of their answers, by base name.
type fetchedOf struct {
	sync.Mutex
	count map[string]int
	bytes map[string]int64
}

func (f *fetchedOf) watch(p *storetest.Proxy) {
	f.count, f.bytes = map[string]int{}, map[string]int64{}
	p.OnAnswer(func(r *http.Request, a *http.Response) {
		if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, ".ufs") {
			f.Lock()
			defer f.Unlock()
			f.count[path.Base(r.URL.Path)]++
			f.bytes[path.Base(r.URL.Path)] += a.ContentLength
		}
	})
}

// TestMergeFetchesOnce: every file in a store is downloaded once, after one look at its header, and
// those outside the window not at all.
func TestMergeFetchesOnce(t *testing.T) {
	s := storetest.S3(t)
	proxy := storetest.NewProxy(t, s.Endpoint)
	at := folder(t)
	const columns = 300 // whose statistics are far longer than the header
	var days, sizes = []string{}, map[string]int64{}
	for day := 1; day <= 3; day++ {
		var names []string
		var values [][]float64
		for j := range columns {
			x, from := planted.NewSeries(7, uint64(j)), int64(day)*2*columns
			names, values = append(names, fmt.Sprintf("x%03d", j)), append(values, make([]float64, 2*columns))
			for i := range values[j] {
				values[j][i] = x.Normal(from + int64(i))
			}
		}
		must(t, "scan", columnsFile(t, at("day.parquet"), names, values...), "-o", at("day.ufs"))
		name := dayName(day) + ".ufs"
		days = append(days, strings.Replace(upload(t, s, at("day.ufs"), name), s.Endpoint, proxy.URL, 1))
		sizes[name] = int64(len(read(t, at("day.ufs"))))
		if sizes[name] < 4*aHeader {
			t.Fatalf("only %d bytes of statistics", sizes[name])
		}
	}
	for flags, want := range map[string][]string{
		"":                       {dayName(1), dayName(2), dayName(3)},
		"--window 2":             {dayName(2), dayName(3)},
		"--window 2 --decay 0.5": {dayName(2), dayName(3)},
		"--decay 0.5":            {dayName(1), dayName(2), dayName(3)},
	} {
		var f fetchedOf
		f.watch(proxy)
		must(t, slices.Concat([]string{"merge", "-o", at("all.ufs")}, strings.Fields(flags), days)...)
		if len(f.count) != len(want) {
			t.Errorf("%q: fetched of %v, want %v", flags, f.count, want)
		}
		for _, day := range want {
			name := day + ".ufs"
			if extra := f.bytes[name] - sizes[name]; extra < 0 || extra > aHeader || f.count[name] > 2 {
				t.Errorf("%q: %d bytes of %s in %d requests, it has %d", flags, f.bytes[name], name, f.count[name], sizes[name])
			}
		}
	}
}

// TestAnonymousSignsNothing: merge, check and diff take --anonymous, and sign no request then.
func TestAnonymousSignsNothing(t *testing.T) {
	s := storetest.S3(t)
	there, here, at := storeDays(t, s, s.Endpoint, 2)
	must(t, "select", "--stats", here[0], "-k", "5", "-o", at("sel.json"))
	sel := upload(t, s, at("sel.json"), "sel.json")
	for _, anonymous := range []bool{true, false} {
		// A proxy for each: what a run that failed left on its way may arrive after its end.
		proxy := storetest.NewProxy(t, s.Endpoint)
		counts := countSignatures(proxy)
		through := func(url string) string { return strings.Replace(url, s.Endpoint, proxy.URL, 1) }
		for _, args := range [][]string{
			{"merge", through(there[0]), through(there[1]), "-o", at("all.ufs")},
			{"merge", "--decay", "0.5", through(there[0]), through(there[1]), "-o", at("all.ufs")},
			{"check", "--selection", through(sel), "--stats", here[1]},
			{"check", "--selection", at("sel.json"), "--stats", through(there[1])},
			{"check", "--selection", at("sel.json"), "--stats", here[1], "--baseline", through(there[0])},
			{"diff", through(sel), at("sel.json")},
		} {
			r := invoke(append(args, fmt.Sprintf("--anonymous=%v", anonymous))...)
			tells(t, s, r)
			signed, unsigned := counts.take()
			// The bucket is not public, so the server refuses.
			if anonymous && (r.code != exit.Data || unsigned == 0 || signed > 0) || !anonymous && (r.code == exit.Data || signed == 0 || unsigned > 0) {
				t.Errorf("%v, anonymous %v: exit code %d, %d requests signed, %d not: %s", args, anonymous, r.code, signed, unsigned, r.err)
			}
		}
	}
}

// deltaTable writes a Delta table of days, each a commit.
func deltaTable(t *testing.T, root string, days int) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(root, "_delta_log"), 0o777); err != nil {
		t.Fatalf("making a folder: %v", err)
	}
	var fields []string
	for day := range days {
		names, columns := dailyValues(day+1, false, dailyRows)
		file := fmt.Sprintf("part-%d.parquet", day)
		size := len(read(t, columnsFile(t, filepath.Join(root, file), names, columns...)))
		commit := fmt.Sprintf(`{"add":{"path":%q,"partitionValues":{},"size":%d,"modificationTime":1,"dataChange":true}}`, file, size)
		if day == 0 {
			for _, name := range names {
				fields = append(fields, fmt.Sprintf(`{\"name\":\"%s\",\"type\":\"double\",\"nullable\":true,\"metadata\":{}}`, name))
			}
			commit = `{"protocol":{"minReaderVersion":1,"minWriterVersion":2}}` + "\n" +
				`{"metaData":{"id":"t","format":{"provider":"parquet","options":{}},"schemaString":"{\"type\":\"struct\",\"fields\":[` + strings.Join(fields, ",") +
				`]}","partitionColumns":[],"configuration":{}}}` + "\n" + commit
		}
		write(t, filepath.Join(root, "_delta_log", fmt.Sprintf("%020d.json", day)), commit+"\n")
	}
}

// TestStatisticsNameTheirTable: statistics of a version of a table, and what is merged of them
// alone, name it as a selection from the table itself does; merged with anything else they name none.
func TestStatisticsNameTheirTable(t *testing.T) {
	at := folder(t)
	deltaTable(t, at("table"), 2)
	want := selection(t, at("table"), "-k", "3").Table
	if want == nil || want.Version != 1 {
		t.Fatalf("the selection from the table names %+v", want)
	}
	must(t, "scan", at("table"), "-o", at("whole.ufs"))
	must(t, "scan", at("table"), "--shard", "1/2", "-o", at("first.ufs"))
	must(t, "scan", at("table"), "--shard", "2/2", "-o", at("second.ufs"))
	must(t, "scan", at("table"), "--version", "0", "-o", at("older.ufs"))
	must(t, "scan", dailyPartition(t, at("data"), 9, false), "-o", at("bare.ufs"))
	for name, parts := range map[string]string{"both": "first second", "mixed": "second older", "then-bare": "first bare", "bare-then": "bare first second"} {
		args := []string{"merge", "-o", at(name + ".ufs")}
		for _, part := range strings.Fields(parts) {
			args = append(args, at(part+".ufs"))
		}
		must(t, args...)
	}
	for name, table := range map[string]*stream.Table{"whole": want, "first": want, "both": want, "mixed": nil, "then-bare": nil, "bare-then": nil, "bare": nil} {
		if got := selection(t, "--method", "greedy", "--stats", at(name+".ufs"), "-k", "3").Table; marshal(t, got) != marshal(t, table) {
			t.Errorf("%s names %+v, want %+v", name, got, table)
		}
	}
	if v := selection(t, "--method", "greedy", "--stats", at("older.ufs"), "-k", "3").Table; v == nil || v.Version != 0 {
		t.Errorf("statistics of version 0 name %+v", v)
	}
}
