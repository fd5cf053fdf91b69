package storetest

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// judge counts the faults that a check finds, in place of the test's own.
type judge struct {
	testing.TB
	found []string
}

func (j *judge) Helper() {}
func (j *judge) Errorf(format string, args ...any) {
	j.found = append(j.found, fmt.Sprintf(format, args...))
}

// A Recorder finds credentials in whatever way they come, and nothing where there are none.
func TestRecorder(t *testing.T) {
	const secret = "se/cret+key=0123"
	basic := func(user string) string {
		return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+secret+"x"))
	}
	for name, test := range map[string]struct {
		path   string
		header [2]string
		body   string
		want   bool
	}{
		"nothing":        {"/a?b=c", [2]string{"X-Ms-Version", "2021-08-06"}, "body", false},
		"a signature":    {"/", [2]string{"Authorization", "AWS4-HMAC-SHA256 Signature=0"}, "", true},
		"a token":        {"/", [2]string{"X-Amz-Security-Token", "x"}, "", true},
		"a cookie":       {"/", [2]string{"Cookie", "a=b"}, "", true},
		"a SAS":          {"/k?sv=1&sig=abc", [2]string{}, "", true},
		"presigned":      {"/k?X-Amz-Signature=abc", [2]string{}, "", true},
		"plain":          {"/", [2]string{"X-Other", "is " + secret}, "", true},
		"in the query":   {"/?a=" + url.QueryEscape(secret), [2]string{}, "", true},
		"escaped twice":  {"/?a=" + url.QueryEscape(url.QueryEscape(secret)), [2]string{}, "", true},
		"in the body":    {"/", [2]string{}, "assertion=" + url.QueryEscape(secret), true},
		"basic":          {"/", [2]string{"X-Auth", basic("u")}, "", true},
		"basic, shifted": {"/", [2]string{"X-Auth", basic("us")}, "", true},
		"basic, again":   {"/", [2]string{"X-Auth", basic("use")}, "", true},
		"hexadecimal":    {"/", [2]string{"X-Auth", fmt.Sprintf("%x", secret)}, "", true},
	} {
		r := NewRecorder(t, nil)
		silent := &judge{TB: t}
		if r.WantSilence(silent); len(silent.found) > 0 {
			t.Errorf("%s: before any request: %q", name, silent.found)
		}
		q := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, r.URL+test.path, strings.NewReader(test.body)))(t)
		if test.header[0] != "" {
			q.Header.Set(test.header[0], test.header[1])
		}
		resp, err := http.DefaultClient.Do(q)
		must.Do(t, err)
		resp.Body.Close()
		j := &judge{TB: t}
		if r.WantNoCredentials(j, "another secret", secret); len(j.found) > 0 != test.want {
			t.Errorf("%s: found %q, want any: %v", name, j.found, test.want)
		}
		if r.WantSilence(silent); len(silent.found) != 2 || len(r.RequestTexts()) != 1 {
			t.Errorf("%s: %d requests, and silence finds %q", name, len(r.RequestTexts()), silent.found)
		}
	}
}
