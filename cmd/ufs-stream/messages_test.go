package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/app/program"
	"github.com/ufs-stream/ufs-stream/internal/app/screen"
	"github.com/ufs-stream/ufs-stream/methods"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

// messagesOf decodes the lines of --messages json.
func messagesOf(t *testing.T, lines string) (list []program.Message) {
	t.Helper()
	for line := range strings.Lines(lines) {
		var m program.Message
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("decoding the message %q: %v", line, err)
		}
		list = append(list, m)
	}
	return list
}

// sameInJSON runs a command line that fails again, and wants the error that r shows as text in one line of JSON.
func sameInJSON(t *testing.T, r result, args ...string) {
	t.Helper()
	t.Setenv("UFS_STREAM_MESSAGES", "json")
	again := invoke(args...)
	t.Setenv("UFS_STREAM_MESSAGES", "")
	list := messagesOf(t, again.err)
	if len(list) == 0 {
		t.Errorf("%v: no message, want one for\n%s", args, r.err)
		return
	}
	last := list[len(list)-1]
	if again.code != r.code || last.ExitCode != r.code || last.Event != program.EventError || last.Kind == "" {
		t.Errorf("%v: exit code %d and message %+v, want code %d", args, again.code, last, r.code)
	}
	if text := "ufs-stream: " + screen.EscapeText(last.Message) + "\n"; !strings.Contains(r.err, text) {
		t.Errorf("%v: the message is\n%s and the text is\n%s", args, text, r.err)
	}
	if last.Remedy != "" && last.Command == "" && !strings.HasSuffix(last.Message, "; "+last.Remedy) {
		t.Errorf("%v: the remedy is %q, which does not end the message\n%s", args, last.Remedy, last.Message)
	}
}

// TestMessagesHaveThePlace: the members of an error are where the fault is, exactly as the file has it.
func TestMessagesHaveThePlace(t *testing.T) {
	at := folder(t)
	const odd = "a\u202eb\x7f\n\"c\"\U000e0001" // no terminal may see some of these
	file := columnsFile(t, at("a.parquet"), []string{odd, "b"}, []float64{1, 2, nan, 4}, []float64{3, 1, 2, 2})
	r := invoke("select", file, "--missing", "error", "--messages=json")
	list := messagesOf(t, r.err)
	if len(list) != 1 {
		t.Fatalf("%d messages, want 1:\n%s", len(list), r.err)
	}
	m := list[0]
	if m.Kind != "data" || m.Path != file || m.Column != odd || m.Row == nil || *m.Row != 2 || m.RowGroup == nil || *m.RowGroup != 0 || m.Remedy == "" {
		t.Errorf("the message is %+v, want row 2 of row group 0 of column %q of %s", m, odd, file)
	}
	if shown := screen.EscapeLines(r.err); shown != r.err {
		t.Errorf("a terminal would see\n%q", r.err)
	}
	if m := messagesOf(t, invoke("select", file, "-o", at("no/sel.json"), "--messages", "json").err)[0]; m.Kind != "output" || m.Path != at("no/sel.json") || m.ExitCode != exit.Fault {
		t.Errorf("the message is %+v, want an output that cannot be written", m)
	}
}

// TestMessagesHaveACommand: the command of a memory error, run by a shell, does the job.
func TestMessagesHaveACommand(t *testing.T) {
	in, _ := plant(t, 300, 1)
	at := folder(t)
	for _, args := range [][]string{
		{"select", in, "-k", "3", "--memory-limit", "1MiB", "--messages", "json", "-o", at("it's a selection.json")},
		{"select", "--messages", "json", "--memory-limit=1MiB", "-o", at("it's a selection.json"), "--", in},
	} {
		list := messagesOf(t, invoke(args...).err)
		m := list[len(list)-1]
		if m.Kind != "memory" || !strings.HasPrefix(m.Remedy, "raise it: --memory-limit ") || m.ExitCode != exit.Memory {
			t.Fatalf("the message is %+v, want a memory limit that is too low", m)
		}
		cmd := exec.CommandContext(t.Context(), "bash", "-c", m.Command) //nolint:gosec // this is the command under test
		cmd.Env = append(os.Environ(), asProgram+"=1")
		if said, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("the command %s ended with %v:\n%s", m.Command, err, said)
		}
		if s := readSelection(t, at("it's a selection.json")); len(s.Selected) == 0 {
			t.Errorf("%s: nothing is selected", m.Command)
		}
	}
	if m := messagesOf(t, invoke("select", in, "--memory-limit", "1MiB", "--messages", "json", "--where", "a != 'https://u:"+plantedSecret+"@host/'").err)[0]; m.Command != "" {
		t.Errorf("the command %q was made of arguments with a secret", m.Command)
	}
}

// TestInterruptionHasACommand: after an interruption the message has the command that goes on, also without a word of
// the text form.
func TestInterruptionHasACommand(t *testing.T) {
	in, _ := plant(t, 2400, 3)
	at := folder(t)
	args := []string{"scan", in, "-o", at("got.ufs"), "--checkpoint", at("state"), "--checkpoint-every", "1ms", "--messages", "json"}
	for n := int64(3); ; n += 5 {
		r := invokeWith(newCountdown(n), nil, args...)
		if r.code == exit.Done {
			t.Fatal("no run was interrupted in the middle")
		}
		list := messagesOf(t, r.err)
		if m := list[len(list)-1]; m.Kind != "interrupted" || m.ExitCode != exit.Interrupted {
			t.Fatalf("the message is %+v, want an interruption", m)
		} else if m.Command != "" {
			if !strings.HasSuffix(m.Command, " "+strings.Join(args, " ")) || !strings.Contains(m.Remedy, at("state")) {
				t.Errorf("the message is %+v, want the command %v", m, args)
			}
			return
		}
	}
}

// TestMessageFlag: the form of messages comes from the flag, the environment or the file of defaults, wherever a mistake
// stands; results and exit codes stay as they are.
func TestMessageFlag(t *testing.T) {
	in, _ := plantHoled(t, 300, 1)
	at := folder(t)
	guessed := []string{"select", write(t, at("t.csv"), "a,b,c\n1,2,3\n2,3,x\n1,1,5\n"), "-v", "-k", "1", "--format", "names"}
	text, inJSON := invoke(guessed...), invoke(append(guessed, "--messages", "json")...)
	if text.out != inJSON.out || inJSON.code != exit.Done {
		t.Errorf("the result is %q with text, and %q with JSON, exit code %d", text.out, inJSON.out, inJSON.code)
	}
	count := func(event string) (n int) {
		for _, m := range messagesOf(t, inJSON.err) {
			if m.Event == event {
				n++
			}
		}
		return n
	}
	if lines, warnings := strings.Count(text.err, "\n"), strings.Count(text.err, "warning: "); count(program.EventWarning) != warnings || count(program.EventNote) != lines-warnings || warnings == 0 {
		t.Errorf("%d warnings and %d notes in JSON, and in text\n%s", count(program.EventWarning), count(program.EventNote), text.err)
	}
	if r := invoke("select", in, "-q", "-k", "3", "--format", "names", "--messages", "json"); r.err != "" {
		t.Errorf("-q, yet standard error has %q", r.err)
	}
	if r := invoke("select", in, "-k", "3", "--format", "names", "--messages", "json", "--progress", "tty"); strings.Contains(r.err, "\x1b") {
		t.Errorf("a bar between the messages: %q", r.err)
	}
	isJSON := func(args ...string) bool { return strings.HasPrefix(invoke(args...).err, `{"event":"error"`) }
	for _, args := range [][]string{
		{"select", "--zzz", "--messages", "json"}, {"--messages", "json", "slect"}, {"select", in, "-k", "many", "--messages=json"}, {"help", "slect", "--messages", "json"},
	} {
		if !isJSON(args...) {
			t.Errorf("%v: no message in JSON", args)
		}
	}
	if isJSON("select", "--zzz", "--", "--messages", "json") {
		t.Errorf("an argument after -- was taken for a flag")
	}
	config := write(t, at("ufs.yaml"), "messages: json\n")
	if !isJSON("select", at("nosuch"), "--config", config) || isJSON("select", at("nosuch"), "--config", config, "--messages", "text") {
		t.Errorf("the file of defaults does not choose the form, or the flag does not override it")
	}
	t.Setenv("UFS_STREAM_MESSAGES", "json")
	if !isJSON("select", "--zzz") || !isJSON("select", at("nosuch")) || isJSON("select", at("nosuch"), "--messages", "text") {
		t.Errorf("the environment does not choose the form, or the flag does not override it")
	}
	t.Setenv("UFS_STREAM_MESSAGES", "xml")
	ends(t, exit.Usage, "UFS_STREAM_MESSAGES: --messages xml: want text, json", "select", in)
}

var flagLine = regexp.MustCompile(`(?m)^(?: {6}|  -., )--([a-z-]+)`)

// TestHelpInJSON: the help for programs has every verb with all flags of its text, with the values, bounds and roles of
// the table of options, and every method.
func TestHelpInJSON(t *testing.T) {
	var doc helpDocument
	if err := json.Unmarshal([]byte(must(t, "help", "--format", "json")), &doc); err != nil {
		t.Fatalf("decoding the help: %v", err)
	}
	if len(doc.Verbs) < 15 || len(doc.ExitCodes) != strings.Count(program.ExitCodes, "\n")+1 || len(doc.Formats) == 0 {
		t.Errorf("%d verbs, %d exit codes, %d formats", len(doc.Verbs), len(doc.ExitCodes), len(doc.Formats))
	}
	options := make(map[string]request.Option)
	for _, o := range request.ListParts(request.AllParts) {
		options[o.Name] = o
	}
	for _, v := range doc.Verbs {
		var shown, found []string
		for _, flag := range flagLine.FindAllStringSubmatch(must(t, v.Name, "--help"), -1) {
			if flag[1] != "help" {
				shown = append(shown, flag[1])
			}
		}
		for _, f := range append(slices.Clone(v.Flags), doc.Flags...) {
			found = append(found, f.Name)
		}
		slices.Sort(shown)
		slices.Sort(found)
		if !slices.Equal(shown, found) {
			t.Errorf("%s --help has the flags %v, and the JSON %v", v.Name, shown, found)
		}
		if v.Name != "select" {
			continue
		}
		for _, f := range v.Flags {
			o, isOption := options[f.Name]
			if isOption && (f.Bounds != o.Bounds.Want || f.Name != "method" && !slices.Equal(f.Values, o.Values) || !slices.Equal(f.Shapes, o.ListShapes())) {
				t.Errorf("--%s is %+v, and the table has %+v", f.Name, f, o)
			}
			if !isOption && f.Section != request.Everyday && f.Section != "Output" && f.Methods == nil {
				t.Errorf("--%s is %+v, and is in no table", f.Name, f)
			}
		}
	}
	var found []string
	for _, m := range doc.Methods {
		found = append(found, m.Name)
	}
	if want := methods.Names(methods.All()); !slices.Equal(found, want) {
		t.Errorf("methods %v, want %v", found, want)
	}
	if err := json.Unmarshal([]byte(must(t, "help", "merge", "--format", "json")), &doc); err != nil || len(doc.Verbs) != 1 || doc.Verbs[0].Name != "merge" {
		t.Errorf("help merge: %v, %d verbs", err, len(doc.Verbs))
	}
	ends(t, exit.Usage, "--format xml: want text, json", "help", "--format", "xml")
}
