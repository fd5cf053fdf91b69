package storetest

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/ufs-stream/ufs-stream/internal/testing/freeport"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/internal/testing/testtool"
)

// The account name that the emulator accepts, and its key, which is publicly known.
const (
	azureAccount = "devstoreaccount1"
	azureKey     = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
)

// Azure starts azurite, and sets the environment to an account and key that it accepts. azurite is a Node program. If
// npm is missing and cannot install it, the test is skipped with a message.
func Azure(t testing.TB) *Server {
	t.Helper()
	setVariables(t, isolatedVariables(t), azureCredentials())
	return startAzure(t)
}

func azureCredentials() map[string]string {
	return map[string]string{"AZURE_STORAGE_ACCOUNT": azureAccount, "AZURE_STORAGE_KEY": azureKey}
}

func startAzure(t testing.TB) *Server {
	t.Helper()
	program := testtool.NodeProgram(t, "azurite-blob", "azurite", "3.35.0")
	port, dir := freeport.FindPort(t), t.TempDir()
	s := launchServer(t, &Server{
		Scheme: "azblob", Bucket: "lake", Endpoint: fmt.Sprintf("http://127.0.0.1:%d", port), Secrets: []string{azureKey},
		query: "endpoint=%s/" + azureAccount,
		command: func() *exec.Cmd {
			return exec.Command(program, "--blobPort", fmt.Sprint(port), "--location", dir, "--silent", "--disableTelemetry", "--skipApiVersionCheck") //nolint:noctx // Stop ends it
		},
	})
	sendSignedPut(t, s.Endpoint, "/lake", "restype=container", nil)
	s.put = func(key string, content []byte) {
		t.Helper()
		sendSignedPut(t, s.Endpoint, "/lake/"+(&url.URL{Path: key}).EscapedPath(), "", content)
	}
	return s
}

func sendSignedPut(t testing.TB, endpoint, path, query string, content []byte) {
	t.Helper()
	address := endpoint + "/" + azureAccount + path
	resource := "/" + azureAccount + "/" + azureAccount + path
	if query != "" {
		address += "?" + query
		resource += "\n" + strings.Replace(query, "=", ":", 1)
	}
	r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPut, address, bytes.NewReader(content)))(t)
	length, date := "", time.Now().UTC().Format(http.TimeFormat)
	if len(content) > 0 {
		length = fmt.Sprint(len(content))
	}
	r.Header.Set("X-Ms-Blob-Type", "BlockBlob")
	r.Header.Set("X-Ms-Date", date)
	r.Header.Set("X-Ms-Version", "2021-08-06")
	mac := hmac.New(sha256.New, must.Get(base64.StdEncoding.DecodeString(azureKey))(t))
	fmt.Fprintf(mac, "PUT\n\n\n%s\n\n\n\n\n\n\n\n\nx-ms-blob-type:BlockBlob\nx-ms-date:%s\nx-ms-version:2021-08-06\n%s", length, date, resource)
	r.Header.Set("Authorization", "SharedKey "+azureAccount+":"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	mustSend(t, r)
}
