package store

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/ufs-stream/ufs-stream/internal/cloud/store/storetest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// sessionServer is a resumable session as Google documents it, which fake-gcs-server does
// not keep to where an answer is lost: bytes that are there already are ignored when they
// come again, a part may be kept only in part, and a session that ended tells the object.
type sessionServer struct {
	mu       sync.Mutex
	kept     []byte
	size     int
	object   []byte
	requests int
	deleted  bool
}

func (s *sessionServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case r.Method == http.MethodPost:
		w.Header().Set("Location", "https://another-name.example"+r.URL.Path+"?upload_id=1")
		return
	case r.Method == http.MethodDelete:
		s.deleted = true
		w.WriteHeader(statusClientClosed)
		return
	case r.Method == http.MethodGet && s.object == nil:
		w.WriteHeader(http.StatusNotFound)
		return
	case r.Method == http.MethodGet:
		fmt.Fprintf(w, `{"name":"key","size":"%d","generation":"1"}`, len(s.object))
		return
	}
	var from, to int
	_, _ = fmt.Sscanf(r.Header.Get("Content-Range"), "bytes %d-%d/%d", &from, &to, &s.size)
	body, err := io.ReadAll(r.Body)
	if s.requests++; err != nil || from > len(s.kept) || to-from+1 != len(body) {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if s.requests%4 == 2 {
		body = body[:min(len(body), 256<<10)] // keeps a part of it
	}
	if have := len(s.kept) - from; have < len(body) {
		s.kept = append(s.kept, body[have:]...)
	}
	if len(s.kept) == s.size {
		s.object = s.kept
	}
	if s.requests%4 == 3 {
		panic(http.ErrAbortHandler) // the answer is lost, and the bytes are kept
	}
	if s.object == nil {
		w.Header().Set("Range", fmt.Sprintf("bytes=0-%d", len(s.kept)-1))
		w.WriteHeader(http.StatusPermanentRedirect)
	}
}

func TestResumableSession(t *testing.T) {
	storetest.IsolateEnvironment(t)
	for extra := range int64(5) {
		s := &sessionServer{}
		server := httptest.NewServer(s)
		c := client(nil)
		c.part = 1 << 20
		content := noise(5<<20+extra*300_000+1, uint64(extra))
		err := failure(c.Upload(t.Context(), at(t, "gs://lake/key?anonymous=true&endpoint="+server.URL), bytes.NewReader(content), int64(len(content))))
		if err != nil || !bytes.Equal(s.object, content) || s.deleted {
			t.Errorf("%d of %d bytes, %v", len(s.kept), len(content), err)
		}
		server.Close()
	}
}

// The emulator's variable is enough, and no credentials are looked for then.
func TestEmulatorVariable(t *testing.T) {
	s := storetest.GCS(t)
	t.Setenv("STORAGE_EMULATOR_HOST", strings.TrimPrefix(s.Endpoint, "http://"))
	c := New(Options{})
	want := noise(100, 1)
	if o := put(t, c, "gs://lake/object", want); !bytes.Equal(download(t, c, o), want) {
		t.Error("other bytes")
	}
}

// Tokens are not sent in the clear, other than to this machine.
func TestTokensAreGuarded(t *testing.T) {
	for address, want := range map[string]bool{"http://127.0.0.1:1": true, "http://localhost": true, "http://[::1]:2": true, "https://host": true,
		"http://host": false, "http://10.0.0.1": false} {
		if err := requireEncryption(must.Get(parseEndpoint(address))(t)); (err == nil) != want {
			t.Errorf("a token for %s: error %v, want allowed %t", address, err, want)
		}
	}
	storetest.IsolateEnvironment(t)
	t.Setenv("AZURE_STORAGE_SAS_TOKEN", "?sv=1&sig="+secretSig)
	_, err := client(nil).Stat(t.Context(), at(t, "azblob://c/k?endpoint=http://host.invalid/acc"))
	var bad *stream.DataError
	if err == nil || !strings.Contains(err.Error(), "without encryption") || !asData(err, &bad) {
		t.Errorf("a signature to http: error %v, want a data error about encryption", err)
	}
}

// anIdentity gives out one token of Azure's.
type anIdentity struct{}

func (anIdentity) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: secretToken, ExpiresOn: time.Now().Add(time.Hour)}, nil
}

// Without encryption go signatures, which are good for one request, and to the host that the user
// gave as http:// only. What is itself a key to the store, a token or a SAS, goes to this machine alone.
func TestCredentialsInTheClear(t *testing.T) {
	storetest.IsolateEnvironment(t)
	server := storetest.NewRecorder(t, nil)
	host := "store.example" + server.URL[strings.LastIndexByte(server.URL, ':'):]
	key := base64.StdEncoding.EncodeToString([]byte(secretKey))
	t.Setenv("AWS_ACCESS_KEY_ID", accessKey)
	t.Setenv("AWS_SECRET_ACCESS_KEY", secretKey)
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", tokensFrom(t, nil))
	for _, test := range []struct {
		url, env string
		sent     bool
	}{
		{"s3://lake/key?use_path_style=true&endpoint=http://" + host, "", true},
		{"s3://lake/key?use_path_style=true", "AWS_ENDPOINT_URL=http://" + host, true},
		{"azblob://lake/key?storage_account=acc&endpoint=http://" + host, "AZURE_STORAGE_KEY=" + key, true},
		{"azblob://lake/key?storage_account=acc&endpoint=http://" + host, "AZURE_STORAGE_SAS_TOKEN=sv=1&sig=" + secretSig, false},
		{"azblob://lake/key?storage_account=acc&protocol=http&domain=" + host, "AZURE_STORAGE_SAS_TOKEN=sv=1&sig=" + secretSig, false},
		{"azblob://lake/key?storage_account=acc&endpoint=http://" + host, "", false},
		{"gs://lake/key?endpoint=http://" + host, "", false},
	} {
		for _, name := range []string{"AWS_ENDPOINT_URL", "AZURE_STORAGE_KEY", "AZURE_STORAGE_SAS_TOKEN"} {
			value, _ := strings.CutPrefix(test.env, name+"=")
			if value == test.env {
				value = ""
			}
			t.Setenv(name, value)
		}
		c := client(nil)
		c.patience.tries = 1
		c.stores, c.web = newHTTPClients(c.opt.Meter, names(t, map[string]string{"store.example": "127.0.0.1", "acc.store.example": "127.0.0.1"}), nil)
		l := at(t, test.url)
		if l.Scheme == "azblob" && test.env == "" {
			d := must.Get(c.dialectOf(t.Context(), l.WithKey("")))(t)
			d.(*azure).token = anIdentity{}
		}
		before := len(server.RequestTexts())
		_, err := c.Stat(t.Context(), l)
		if sent := len(server.RequestTexts()) > before; sent != test.sent || sent == strings.Contains(err.Error(), "without encryption") {
			t.Errorf("%s with %s: sent %v, want %v: %v", test.url, test.env, sent, test.sent, err)
		}
	}
	for _, r := range server.RequestTexts() {
		for _, secret := range []string{secretKey, key, secretToken, secretSig} {
			if strings.Contains(r, secret) {
				t.Errorf("%q went through the network:\n%s", secret, r)
			}
		}
	}
}
