package store

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ufs-stream/ufs-stream/internal/cloud/store/storetest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// names is a dialer that finds hosts as a name server with these names does.
func names(t *testing.T, of map[string]string) net.Dialer {
	t.Helper()
	server := must.Get(new(net.ListenConfig).ListenPacket(t.Context(), "udp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { server.Close() })
	go func() {
		for b := make([]byte, 512); ; {
			n, from, err := server.ReadFrom(b)
			if err != nil {
				return
			}
			// The question is said again, with a first answer about its name: an address of IPv4.
			var labels []string
			at := 12
			for ; b[at] != 0; at += 1 + int(b[at]) {
				labels = append(labels, string(b[at+1:at+1+int(b[at])]))
			}
			reply := slices.Clone(b[:at+5])
			copy(reply[2:12], []byte{0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0})
			if a, err := netip.ParseAddr(of[strings.Join(labels, ".")]); err == nil && b[at+2] == 1 {
				reply[7] = 1
				reply = append(reply, 0xC0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4)
				reply = append(reply, a.AsSlice()...)
			}
			_, _ = server.WriteTo(reply, from)
			_ = n
		}
	}()
	return net.Dialer{Timeout: 2 * time.Second, Resolver: &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", server.LocalAddr().String())
	}}}
}

// redirectTo answers with a redirect to a place, which may change.
func redirectTo(place *string, status int) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", *place)
		w.WriteHeader(status)
	})
}

func TestReach(t *testing.T) {
	for address, want := range map[string]reach{
		"8.8.8.8": public, "2606:4700::1111": public, "172.32.0.1": public, "169.253.0.1": public, "64:ff9b::808:808": public,
		"10.0.0.1": privateNetwork, "172.16.0.1": privateNetwork, "192.168.1.1": privateNetwork, "100.100.100.200": privateNetwork, "fd00:ec2::254": privateNetwork,
		"192.0.0.192": privateNetwork, "255.255.255.255": privateNetwork, "ff02::1": privateNetwork, "fec0::1": privateNetwork, "::ffff:10.0.0.1": privateNetwork,
		"169.254.169.254": sameLink, "fe80::1%eth0": sameLink, "::ffff:169.254.169.254": sameLink, "64:ff9b::a9fe:a9fe": sameLink, "168.63.129.16": sameLink, "2002:a9fe:a9fe::": sameLink,
		"127.0.0.1": sameMachine, "127.255.0.1": sameMachine, "::1": sameMachine, "0.0.0.0": sameMachine, "::": sameMachine, "0.1.2.3": sameMachine,
		"::ffff:127.0.0.1": sameMachine, "64:ff9b::7f00:1": sameMachine, "::127.0.0.1": sameMachine,
	} {
		if got := reachOf(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s is %s, want %s", address, got, want)
		}
	}
	for host, want := range map[string]reach{
		"host.example": public, "127.0.0.1.nip.io": public, "8.8.8.8": public, "metadata.example": public,
		"localhost": sameMachine, "LOCALHOST.": sameMachine, "a.localhost": sameMachine, "::1": sameMachine, "2130706433": sameMachine, "0x7f.1": sameMachine,
		"metadata.google.internal": sameLink, "Metadata.Google.Internal.": sameLink, "metadata": sameLink, "169.254.169.254": sameLink, "10.1.1.1": privateNetwork,
	} {
		if got := reachOfHost(host); got != want {
			t.Errorf("%s is %s, want %s", host, got, want)
		}
	}
}

// A redirect goes to no address that is nearer to this machine than the one that was given, by
// whatever name, and nowhere without encryption but to the same host.
func TestRedirectsStay(t *testing.T) {
	var place string
	first := storetest.NewRecorder(t, redirectTo(&place, http.StatusFound))
	other := storetest.NewRecorder(t, nil)
	storetest.IsolateEnvironment(t)
	c := client(nil)
	c.patience.tries = 1
	dialer := names(t, map[string]string{"rebound.example": "169.254.7.7", "inside.example": "10.255.255.1"})
	dialer.Timeout = 100 * time.Millisecond
	c.stores, c.web = newHTTPClients(c.opt.Meter, dialer, nil)
	otherHost := strings.TrimPrefix(other.URL, "http://")
	for to, want := range map[string]string{
		"https://169.254.7.7/a": "link-local", "https://[fe80::1]/": "link-local", "https://rebound.example/a": "link-local",
		"https://10.255.255.1/a": "private network", "https://inside.example/": "private network", "https://[fd00:7::7]/": "private network",
		"https://[::ffff:169.254.7.7]/": "link-local",
		"http://169.254.7.7/a":          "another host", "http://metadata.google.internal/": "another host", other.URL + "/a": "another host",
		"http://localhost" + otherHost[strings.LastIndexByte(otherHost, ':'):] + "/a": "another host",
		"ftp://host/a": "not of a web server", "file:///etc/passwd": "not of a web server",
	} {
		place = to
		_, err := c.Stat(t.Context(), at(t, first.URL+"/file?sig=1"))
		if err == nil || !strings.Contains(err.Error(), want) || isTemporary(err) || strings.Contains(err.Error(), "sig=") {
			t.Errorf("to %s: %v, want %q", to, err, want)
		}
	}
	other.WantSilence(t)
	// Of the same reach as the first address, and to the same host: followed.
	secure := httptest.NewTLSServer(other)
	defer secure.Close()
	c.stores, c.web = newHTTPClients(c.opt.Meter, dialer, secure.Client().Transport.(*http.Transport).TLSClientConfig)
	place = secure.URL + "/a"
	if _, err := c.Stat(t.Context(), at(t, first.URL+"/file")); err == nil || len(other.RequestTexts()) == 0 {
		t.Errorf("to another server of this machine: %v, %d requests", err, len(other.RequestTexts()))
	}
	place = "/file"
	if _, err := c.Stat(t.Context(), at(t, first.URL+"/file")); err == nil || !strings.Contains(err.Error(), "for ever") {
		t.Errorf("in a circle: %v", err)
	}
}

// No way leads from https:// to http://, also over a third server.
func TestRedirectsStayEncrypted(t *testing.T) {
	storetest.IsolateEnvironment(t)
	var place, further string
	plain := storetest.NewRecorder(t, redirectTo(&further, http.StatusFound))
	secure := httptest.NewTLSServer(redirectTo(&place, http.StatusTemporaryRedirect))
	defer secure.Close()
	place, further = plain.URL+"/a", secure.URL
	for _, begin := range []string{plain.URL, secure.URL} {
		c := client(nil)
		c.stores, c.web = newHTTPClients(c.opt.Meter, net.Dialer{}, secure.Client().Transport.(*http.Transport).TLSClientConfig)
		_, err := c.Stat(t.Context(), at(t, begin+"/b"))
		if err == nil || !strings.Contains(err.Error(), "without encryption") {
			t.Errorf("%s: got error %v, want a refusal to go on without encryption", begin, err)
		}
	}
	if all := plain.RequestTexts(); len(all) != 1 {
		t.Errorf("want one request, the test's own: %q", all)
	}
}

// A connection that was made to a server of the user's is not there for redirects of others.
func TestRedirectsShareNoConnections(t *testing.T) {
	f := New(Options{}).web.Transport.(*countingTransport).RoundTripper.(*redirectingTransport)
	seen := map[http.RoundTripper]bool{f.first: true}
	for _, next := range f.next {
		if seen[next] {
			t.Error("two kinds of addresses have one pool of connections")
		}
		seen[next] = true
		for of, limit := range f.next {
			_, err := limit.(*http.Transport).DialContext(t.Context(), "tcp", "169.254.0.0:1")
			if refused := err != nil && strings.Contains(err.Error(), "link-local"); refused == (reach(of) == sameLink) {
				t.Errorf("from %s to a link-local address: %v", reach(of), err)
			}
		}
	}
}

// Behind a proxy it is the proxy that looks hosts up: they are judged by their names.
func TestRedirectsByProxy(t *testing.T) {
	if url := os.Getenv("UFS_TEST_PROXY"); url != "" { // in a process of its own: net/http reads the variables once
		c := client(nil)
		c.patience.tries = 1
		for _, to := range []string{"localhost", "metadata.google.internal", "10.0.0.1", "other.example"} {
			_, err := c.Stat(t.Context(), at(t, "http://first.example/"+to))
			fmt.Println("RESULT", to, err)
		}
		return
	}
	storetest.IsolateEnvironment(t)
	proxy := storetest.NewRecorder(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodConnect {
			w.WriteHeader(http.StatusTeapot)
			return
		}
		http.Redirect(w, r, "https://"+r.URL.Path[1:]+"/x", http.StatusFound)
	}))
	t.Setenv("HTTP_PROXY", proxy.URL)
	t.Setenv("HTTPS_PROXY", proxy.URL)
	t.Setenv("NO_PROXY", "")
	t.Setenv("UFS_TEST_PROXY", proxy.URL)
	out := runAgain(t)
	for to, want := range map[string]string{"localhost": "address of this machine", "metadata.google.internal": "link-local", "10.0.0.1": "private network", "other.example": "teapot"} {
		i := strings.Index(out, "RESULT "+to)
		if i < 0 || !strings.Contains(strings.SplitN(out[i:], "\n", 2)[0], want) {
			t.Errorf("%s: want %q in\n%s", to, want, out)
		}
	}
	for _, r := range proxy.RequestTexts() {
		if strings.HasPrefix(r, "CONNECT ") && !strings.HasPrefix(r, "CONNECT other.example:443\n") {
			t.Errorf("the proxy was asked for\n%s", r)
		}
	}
}

// A store's request is signed for one host, and no answer makes it go to another.
func TestStoresAreNotRedirected(t *testing.T) {
	storetest.IsolateEnvironment(t)
	t.Setenv("AWS_ACCESS_KEY_ID", accessKey)
	t.Setenv("AWS_SECRET_ACCESS_KEY", secretKey)
	t.Setenv("AWS_SESSION_TOKEN", secretToken)
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", tokensFrom(t, nil))
	other := storetest.NewRecorder(t, nil)
	place := other.URL + "/lake/key"
	for _, azure := range []map[string]string{{"AZURE_STORAGE_KEY": base64.StdEncoding.EncodeToString([]byte(secretKey))}, {"AZURE_STORAGE_KEY": "", "AZURE_STORAGE_SAS_TOKEN": "sv=1&sig=" + secretSig}} {
		for name, value := range azure {
			t.Setenv(name, value)
		}
		for _, status := range []int{301, 302, 303, 307, 308} {
			first := storetest.NewRecorder(t, redirectTo(&place, status))
			for _, url := range []string{"s3://lake/key?endpoint=" + first.URL, "gs://lake/key?endpoint=" + first.URL, "azblob://lake/key?storage_account=acc&endpoint=" + first.URL + "/acc"} {
				before := len(first.RequestTexts())
				if errs := allErrors(t, at(t, url)); len(errs) < 6 || len(first.RequestTexts()) < before+6 {
					t.Errorf("%s with HTTP %d: %d requests, %d errors: %v", url, status, len(first.RequestTexts())-before, len(errs), errs)
				}
			}
		}
	}
	other.WantSilence(t)
}

// tokensFrom is a file of Google's credentials whose tokens are given out by a server of this test;
// their texts begin with the scope. Each that was asked for is sent to asked.
func tokensFrom(t *testing.T, asked func(scope string)) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var claims struct{ Scope string }
		parts := strings.Split(r.FormValue("assertion"), ".")
		must.Do(t, json.Unmarshal(must.Get(base64.RawURLEncoding.DecodeString(parts[1]))(t), &claims))
		scope := claims.Scope[strings.LastIndexByte(claims.Scope, '/')+1:]
		if asked != nil {
			asked(scope)
		}
		fmt.Fprintf(w, `{"access_token":"%s-%s","token_type":"Bearer","expires_in":3600}`, scope, secretToken)
	}))
	t.Cleanup(server.Close)
	key := must.Get(rsa.GenerateKey(rand.Reader, 2048))(t)
	text := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: must.Get(x509.MarshalPKCS8PrivateKey(key))(t)})
	file := filepath.Join(t.TempDir(), "google.json")
	must.Do(t, os.WriteFile(file, must.Get(json.Marshal(map[string]string{
		"type": "service_account", "client_email": "a@b", "private_key": string(text), "token_uri": server.URL,
	}))(t), 0o600))
	return file
}

// Who only reads has a token that only reads; the wider one is asked for when something is written,
// and is not used for reading then either.
func TestTokensOfReading(t *testing.T) {
	storetest.IsolateEnvironment(t)
	var asked []string
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", tokensFrom(t, func(scope string) { asked = append(asked, scope) }))
	server := storetest.NewRecorder(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		scope := "devstorage.read_write"
		if r.Method == http.MethodGet {
			scope = "devstorage.read_only"
		}
		if got := r.Header.Get("Authorization"); got != "Bearer "+scope+"-"+secretToken && r.URL.Query().Get("upload_id") == "" {
			t.Errorf("%s %s has %q, want one of %s", r.Method, r.URL, got, scope)
		}
		if r.Method == http.MethodPost {
			w.Header().Set("Location", r.URL.Path+"?upload_id=1")
		}
		if r.URL.Query().Get("alt") == "media" {
			w.Header().Set("Content-Range", "bytes 0-2/3")
			w.WriteHeader(http.StatusPartialContent)
			fmt.Fprint(w, "abc")
			return
		}
		fmt.Fprint(w, `{"name":"key","size":"3","generation":"1"}`)
	}))
	l := at(t, "gs://lake/key?endpoint="+server.URL)
	for what, write := range map[string]func(*Client) error{
		"Upload":    func(c *Client) error { return failure(c.Upload(t.Context(), l, strings.NewReader("abc"), 3)) },
		"Replace":   func(c *Client) error { return failure(c.Replace(t.Context(), l, []byte("abc"), "")) },
		"Delete":    func(c *Client) error { return c.Delete(t.Context(), l) },
		"CanUpload": func(c *Client) error { return c.CanUpload(t.Context(), l) },
	} {
		asked = nil
		c := client(nil)
		o := must.Get(c.Stat(t.Context(), l))(t)
		must.Do(t, c.Read(t.Context(), o, make([]byte, 3), 0))
		for _, err := range c.List(t.Context(), l) {
			must.Do(t, err)
		}
		must.Do(t, c.Download(t.Context(), o, new(bytes.Buffer)))
		if !slices.Equal(asked, []string{"devstorage.read_only"}) {
			t.Errorf("reading asks for %q", asked)
		}
		must.Do(t, write(c))
		must.Get(c.Stat(t.Context(), l))(t)
		if !slices.Equal(asked, []string{"devstorage.read_only", "devstorage.read_write"}) {
			t.Errorf("%s asks for %q", what, asked)
		}
	}
}
