package store

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/cloud/store/storetest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// Secrets of every kind, and of each a part that must not be in any text.
const (
	secretKey   = "SECRETKEY/+of=the0account"
	secretToken = "SESSIONTOKENofTheAccount0123456789"
	secretSig   = "SIGofAnAddress0123456789"
	accessKey   = "AKIAACCESSKEY0123456"
)

// allErrors are the errors of everything that a client can do with a location.
func allErrors(t *testing.T, l Location) (errs []error) {
	c := client(nil)
	c.part = 256 << 10 // refused before a part is sent
	c.patience.tries = 2
	keep := func(err error) {
		if err != nil {
			errs = append(errs, err)
		}
	}
	_, err := c.Stat(t.Context(), l)
	keep(err)
	for _, err := range c.List(t.Context(), l) {
		keep(err)
	}
	o := Object{Location: l, Size: 100, Version: `"v"`}
	keep(c.Read(t.Context(), o, make([]byte, 10), 5))
	keep(c.Download(t.Context(), o, new(bytes.Buffer)))
	keep(c.CanUpload(t.Context(), l))
	keep(failure(c.Upload(t.Context(), l, bytes.NewReader(nil), 0)))
	keep(failure(c.Upload(t.Context(), l, bytes.NewReader(make([]byte, c.part+1)), c.part+1)))
	keep(c.Delete(t.Context(), l))
	return errs
}

// A server may tell back all that it was sent, and a network what it was asked for: no error
// repeats a secret of it. Neither does what an error is made of, nor a name.
func TestErrorsTellNoSecrets(t *testing.T) {
	storetest.IsolateEnvironment(t)
	t.Setenv("AWS_ACCESS_KEY_ID", accessKey)
	t.Setenv("AWS_SECRET_ACCESS_KEY", secretKey)
	t.Setenv("AWS_SESSION_TOKEN", secretToken)
	sas := "sv=2021-08-06&sp=rl&sig=" + secretSig
	key := base64.StdEncoding.EncodeToString([]byte(secretKey + secretKey))

	var status int
	var location string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		echo := string(must.Get(httputil.DumpRequest(r, false))(t))
		echo = strings.ReplaceAll(echo, "\r\n", " ") + r.URL.String()
		w.Header().Set("Location", location)
		w.Header().Set("X-Ms-Error-Code", "AuthenticationFailed")
		w.WriteHeader(status)
		if strings.HasPrefix(r.URL.Path, "/storage/") || strings.HasPrefix(r.URL.Path, "/upload/") {
			_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"message": echo}})
			return
		}
		var text bytes.Buffer
		must.Do(t, xml.EscapeText(&text, []byte(echo)))
		fmt.Fprintf(w, "<Error><Code>Whatever</Code><Message>%s</Message></Error>", &text)
	}))
	defer server.Close()
	gone := httptest.NewServer(nil)
	gone.Close()

	places := func(endpoint string) []string {
		return []string{
			"s3://lake/key?use_path_style=true&endpoint=" + endpoint,
			"gs://lake/key?endpoint=" + endpoint + "&anonymous=true",
			"azblob://lake/key?storage_account=acc&endpoint=" + endpoint + "/acc",
			endpoint + "/key?X-Amz-Signature=" + secretSig,
		}
	}
	check := func(what string, errs []error) {
		t.Helper()
		if len(errs) < 4 {
			t.Errorf("%s: only %d errors", what, len(errs))
		}
		for _, err := range errs {
			text := fmt.Sprintf("%v %+v %#v", err, err, err)
			for _, secret := range []string{secretKey, secretToken, secretSig, accessKey, key, "SharedKey acc:"} {
				if strings.Contains(text, secret) {
					t.Errorf("%s: %q is in %s", what, secret, text)
				}
			}
		}
	}
	for _, credentials := range []map[string]string{{"AZURE_STORAGE_KEY": key}, {"AZURE_STORAGE_KEY": "", "AZURE_STORAGE_SAS_TOKEN": sas}} {
		for name, value := range credentials {
			t.Setenv(name, value)
		}
		for _, status = range []int{302, 307, 400, 401, 403, 404, 405, 409, 412, 416, 500, 503} {
			for _, location = range []string{"", "http://%zz?" + secretSig, "/key?again=" + secretSig, gone.URL + "/key?" + secretSig} {
				if status >= 400 && location != "" {
					continue
				}
				for _, url := range places(server.URL) {
					check(fmt.Sprintf("%s, HTTP %d", url[:8], status), allErrors(t, at(t, url)))
				}
			}
		}
		for _, url := range places(gone.URL) {
			check(url[:8]+" without server", allErrors(t, at(t, url)))
		}
	}
}

// Where credentials are missing or wrong, the error says where they are looked for, and
// nothing is written to the terminal.
func TestCredentialsMissing(t *testing.T) {
	storetest.IsolateEnvironment(t)
	terminal := must.Get(os.Create(filepath.Join(t.TempDir(), "stderr")))(t)
	defer func(was *os.File) { os.Stderr = was }(os.Stderr)
	os.Stderr = terminal
	t.Setenv("GCE_METADATA_HOST", "127.0.0.1:1")
	for url, want := range map[string]string{
		"s3://lake/key":                          "AWS_ACCESS_KEY_ID",
		"s3://lake/key?profile=none":             "AWS_PROFILE",
		"gs://lake/key":                          "GOOGLE_APPLICATION_CREDENTIALS",
		"azblob://lake/key":                      "AZURE_STORAGE_ACCOUNT",
		"azblob://lake/key?storage_account=none": "AZURE_STORAGE_KEY",
	} {
		// One request: to find that a machine gives out no credentials takes Azure's library a second.
		_, err := New(Options{}).Stat(t.Context(), at(t, url))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "anonymous") && want != "AZURE_STORAGE_ACCOUNT" {
			t.Errorf("%s: error %v, want one that names %s and anonymous", url, err, want)
		}
	}
	config := filepath.Join(t.TempDir(), "config")
	must.Do(t, os.WriteFile(config, []byte("[default\naws_secret_access_key "+secretKey+"\n[profile x]\naws_access_key_id="+accessKey+"\n"+secretKey+"\n"), 0o600))
	t.Setenv("AWS_CONFIG_FILE", config)
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", config)
	bad := filepath.Join(t.TempDir(), "google.json")
	must.Do(t, os.WriteFile(bad, []byte(`{"type": "service_account", "private_key": "`+secretKey+`"}`), 0o600))
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", bad)
	t.Setenv("AZURE_STORAGE_ACCOUNT", "acc")
	t.Setenv("AZURE_STORAGE_KEY", secretKey)
	for _, url := range []string{"s3://lake/key", "s3://lake/key?profile=x", "gs://lake/key", "azblob://lake/key"} {
		for _, err := range allErrors(t, at(t, url)) {
			if strings.Contains(err.Error(), secretKey) {
				t.Errorf("%s: the error repeats the key: %v", url, err)
			}
		}
	}
	// Further text of the SDKs is of use only if there are faulty credentials.
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	must.Do(t, os.WriteFile(config, []byte("[profile x]\ncredential_process = /bin/echo aws_secret_access_key "+secretKey+"\n[profile y]\nregion = r\n"), 0o600))
	for profile, want := range map[string]string{"x": "process output", "y": "instance)"} {
		for _, err := range allErrors(t, at(t, "s3://lake/key?profile="+profile)) {
			if text := err.Error(); strings.Contains(text, secretKey) || !strings.Contains(text, want) || strings.Contains(text, "IMDS") {
				t.Errorf("profile %s: error %s, want %q and no key", profile, text, want)
			}
		}
	}
	for _, connection := range []string{secretKey, "AccountName=a;" + secretKey, "AccountKey=" + secretKey, "AccountName=" + secretKey + "/;AccountKey=x",
		"BlobEndpoint=https://h/?sig=" + secretKey, "AccountName=a;AccountKey=" + secretKey, "AccountName=a;SharedAccessSignature=" + secretKey} {
		t.Setenv("AZURE_STORAGE_CONNECTION_STRING", connection)
		errs := allErrors(t, at(t, "azblob://lake/key"))
		if len(errs) == 0 {
			t.Errorf("%s: no error", connection)
		}
		for _, err := range errs {
			if strings.Contains(err.Error(), secretKey) {
				t.Errorf("%s: the error repeats the key: %v", connection, err)
			}
		}
	}
	if told := must.Get(os.ReadFile(terminal.Name()))(t); len(told) > 0 {
		t.Errorf("written to the terminal: %s", told)
	}
}

// The store gives its reason for a refusal; so do we, each in its own words.
func TestRefusals(t *testing.T) {
	s := storetest.S3(t)
	put(t, client(nil), s.URL("object"), nil)
	right := os.Getenv("AWS_SECRET_ACCESS_KEY")
	for what, test := range map[string]struct{ id, secret, url, want string }{
		"wrong secret": {"", "wrong-secret-of-this-key", s.URL("object"), "the secret key does not belong to the access key"},
		"wrong key":    {"AKIAWRONG00000000000", right, s.URL("object"), "does not know the access key"},
		"anonymous":    {"", right, s.URL("object") + "&anonymous=true", "leave anonymous"},
	} {
		t.Run(what, func(t *testing.T) {
			if test.id != "" {
				t.Setenv("AWS_ACCESS_KEY_ID", test.id)
			}
			t.Setenv("AWS_SECRET_ACCESS_KEY", test.secret)
			errs := allErrors(t, at(t, test.url))
			if len(errs) < 6 {
				t.Errorf("only %d errors: %v", len(errs), errs)
			}
			for _, err := range errs {
				if !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), test.secret) {
					t.Errorf("error %v, want %q and no secret", err, test.want)
				}
			}
		})
	}
}

func TestRefusalsOfAzure(t *testing.T) {
	a := storetest.Azure(t)
	t.Setenv("AZURE_STORAGE_KEY", base64.StdEncoding.EncodeToString([]byte("another key")))
	for _, err := range allErrors(t, at(t, a.URL("object"))) {
		if !strings.Contains(err.Error(), "AZURE_STORAGE_KEY") {
			t.Errorf("a wrong key: error %v, want the name of its variable", err)
		}
	}
	for _, err := range allErrors(t, at(t, a.URL("object")+"&anonymous=true")) {
		if !strings.Contains(err.Error(), "leave anonymous") && !strings.Contains(err.Error(), "no such object") {
			t.Errorf("without credentials: error %v, want the remedy", err)
		}
	}
}
