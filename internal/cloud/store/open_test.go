package store

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/cloud/store/storetest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

func asData(err error, bad **stream.DataError) bool { return errors.As(err, bad) }

// The region and the endpoint: the URL's before the environment's before the profile's.
func TestWhereS3Is(t *testing.T) {
	storetest.IsolateEnvironment(t)
	config := filepath.Join(t.TempDir(), "config")
	must.Do(t, os.WriteFile(config, []byte(`[default]
region = eu-north-1
[profile ours]
region = eu-south-1
aws_access_key_id = `+accessKey+`
aws_secret_access_key = `+secretKey+`
services = ours
[services ours]
s3 =
  endpoint_url = https://s3.of.ours:9000/folder
[profile china]
region = cn-north-1
`), 0o600))
	for _, test := range []struct{ url, env, want string }{
		{"s3://lake/key", "", "https://lake.s3.us-east-1.amazonaws.com/key"},
		{"s3://lake/key", "AWS_REGION=eu-west-3", "https://lake.s3.eu-west-3.amazonaws.com/key"},
		{"s3://lake/key", "AWS_CONFIG_FILE=" + config, "https://lake.s3.eu-north-1.amazonaws.com/key"},
		{"s3://lake/key?region=ap-east-1", "AWS_REGION=eu-west-3", "https://lake.s3.ap-east-1.amazonaws.com/key"},
		{"s3://lake/key?profile=china", "AWS_CONFIG_FILE=" + config, "https://lake.s3.cn-north-1.amazonaws.com.cn/key"},
		{"s3://lake/key?profile=ours", "AWS_CONFIG_FILE=" + config, "https://lake.s3.of.ours:9000/folder/key"},
		{"s3://lake/key", "AWS_ENDPOINT_URL=http://10.0.0.1:99", "http://10.0.0.1:99/lake/key"},
		{"s3://lake/key", "AWS_ENDPOINT_URL_S3=https://store.example", "https://lake.store.example/key"},
		{"s3://lake/key?use_path_style=true", "AWS_ENDPOINT_URL_S3=https://store.example", "https://store.example/lake/key"},
		{"s3://lake/key?endpoint=http://localhost:1", "AWS_ENDPOINT_URL_S3=https://store.example", "http://localhost:1/lake/key"},
		{"s3://lake/key?anonymous=true", "AWS_ENDPOINT_URL_S3=https://store.example", "https://lake.store.example/key"},
		{"s3://my.lake/key", "", "https://s3.us-east-1.amazonaws.com/my.lake/key"},
	} {
		t.Run(test.url, func(t *testing.T) {
			if name, value, ok := strings.Cut(test.env, "="); ok {
				t.Setenv(name, value)
			}
			l := at(t, test.url)
			s := must.Get(openS3(t.Context(), l))(t)
			if got := s.keyURL(l, l.Key, nil).String(); got != test.want {
				t.Errorf("%s with %s is at %s, want %s", test.url, test.env, got, test.want)
			}
		})
	}
}

func TestWhereAzureIs(t *testing.T) {
	storetest.IsolateEnvironment(t)
	for _, test := range []struct {
		url  string
		env  map[string]string
		want azureSettings
	}{
		{"azblob://c/k?storage_account=acc", nil, azureSettings{"acc", "", "", "https://acc.blob.core.windows.net"}},
		{"azblob://c/k", map[string]string{"AZURE_STORAGE_ACCOUNT": "acc", "AZURE_STORAGE_KEY": "key"}, azureSettings{"acc", "key", "", "https://acc.blob.core.windows.net"}},
		{"azblob://c/k?storage_account=other", map[string]string{"AZURE_STORAGE_ACCOUNT": "acc", "AZURE_STORAGE_KEY": "key"}, azureSettings{"other", "", "", "https://other.blob.core.windows.net"}},
		{"azblob://c/k?storage_account=acc", map[string]string{"AZURE_STORAGE_KEY": "key"}, azureSettings{"acc", "key", "", "https://acc.blob.core.windows.net"}},
		{"azblob://c/k?storage_account=a&domain=localhost:10000&protocol=http", nil, azureSettings{"a", "", "", "http://localhost:10000/a"}},
		{"azblob://c/k?storage_account=a&domain=blob.core.chinacloudapi.cn", nil, azureSettings{"a", "", "", "https://a.blob.core.chinacloudapi.cn"}},
		{"azblob://c/k", map[string]string{"AZURE_STORAGE_CONNECTION_STRING": "UseDevelopmentStorage=true"}, azureSettings{emulatorAccount, emulatorKey, "", "http://127.0.0.1:10000/" + emulatorAccount}},
		{"azblob://c/k", map[string]string{"AZURE_STORAGE_CONNECTION_STRING": "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=k==;EndpointSuffix=core.windows.net"},
			azureSettings{"a", "k==", "", "https://a.blob.core.windows.net"}},
		{"azblob://c/k", map[string]string{"AZURE_STORAGE_CONNECTION_STRING": "BlobEndpoint=https://a.blob.core.windows.net;SharedAccessSignature=sv=1&sig=2"},
			azureSettings{"", "", "sv=1&sig=2", "https://a.blob.core.windows.net"}},
	} {
		t.Run(test.url, func(t *testing.T) {
			for name, value := range test.env {
				t.Setenv(name, value)
			}
			if got := must.Get(findAzureSettings(at(t, test.url)))(t); got != test.want {
				t.Errorf("%s: %+v, want %+v", test.url, got, test.want)
			}
		})
	}
}

// A connection string is enough for the real server, and a wrong region gets its own words.
func TestConnectionString(t *testing.T) {
	s := storetest.Azure(t)
	t.Setenv("AZURE_STORAGE_CONNECTION_STRING", "AccountName=devstoreaccount1;AccountKey="+s.Secrets[0]+";BlobEndpoint="+s.Endpoint+"/devstoreaccount1")
	t.Setenv("AZURE_STORAGE_ACCOUNT", "")
	t.Setenv("AZURE_STORAGE_KEY", "")
	want := noise(100, 1)
	c := client(nil)
	if o := put(t, c, "azblob://lake/object", want); !bytes.Equal(download(t, c, o), want) {
		t.Error("other bytes")
	}
}

func TestWrongRegion(t *testing.T) {
	storetest.IsolateEnvironment(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Amz-Bucket-Region", "eu-west-1")
		w.WriteHeader(http.StatusMovedPermanently)
	}))
	defer server.Close()
	_, err := client(nil).Stat(t.Context(), at(t, "s3://lake/key?anonymous=true&endpoint="+server.URL))
	if err == nil || !strings.Contains(err.Error(), "region=eu-west-1") {
		t.Errorf("a bucket elsewhere: error %v, want its region", err)
	}
}

// Signed requests of all three kinds of bodies are taken with a session's token, which is
// sent and not written anywhere.
func TestSessionToken(t *testing.T) {
	storetest.IsolateEnvironment(t)
	t.Setenv("AWS_ACCESS_KEY_ID", accessKey)
	t.Setenv("AWS_SECRET_ACCESS_KEY", secretKey)
	t.Setenv("AWS_SESSION_TOKEN", secretToken)
	sent := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent++
		if r.Header.Get("X-Amz-Security-Token") != secretToken || !strings.Contains(r.Header.Get("Authorization"), "Credential="+accessKey) ||
			strings.Contains(r.URL.String(), secretToken) {
			t.Errorf("%s %s with %v", r.Method, r.URL, r.Header)
		}
		w.Header().Set("Content-Length", "0")
	}))
	defer server.Close()
	c := client(nil)
	l := at(t, "s3://lake/key?endpoint="+server.URL)
	must.Do(t, failure(c.Upload(t.Context(), l, strings.NewReader("content"), 7)))
	must.Do(t, c.Delete(t.Context(), l))
	must.Get(c.Stat(t.Context(), l))(t)
	// Anonymous: nothing is signed, whatever credentials there are.
	before := sent
	bare := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" || r.Header.Get("X-Amz-Security-Token") != "" {
			t.Errorf("signed: %v", r.Header)
		}
		w.Header().Set("Content-Length", "0")
	}))
	defer bare.Close()
	must.Get(New(Options{Anonymous: true}).Stat(t.Context(), at(t, "s3://lake/key?endpoint="+bare.URL)))(t)
	if before != 3 {
		t.Errorf("%d requests", before)
	}
}
