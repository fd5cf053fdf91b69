package storetest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"os/exec"
	"testing"
	"time"

	"github.com/ufs-stream/ufs-stream/internal/must"
)

// The account of the emulator and its key, which everybody knows.
const (
	azureAccount = "devstoreaccount1"
	azureKey     = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
)

// Azure starts azurite, and sets the environment to an account and key that it takes.
func Azure(t testing.TB) *Server {
	t.Helper()
	program := nodeTool(t, "azurite-blob", "azurite@3.35.0")
	alone(t)
	t.Setenv("AZURE_STORAGE_ACCOUNT", azureAccount)
	t.Setenv("AZURE_STORAGE_KEY", azureKey)
	port, dir := freePort(t), t.TempDir()
	s := launch(t, &Server{
		Scheme: "azblob", Bucket: "lake", Endpoint: fmt.Sprintf("http://127.0.0.1:%d", port), Secrets: []string{azureKey},
		query: "endpoint=%s/" + azureAccount,
		command: func() *exec.Cmd {
			return exec.Command(program, "--blobPort", fmt.Sprint(port), "--location", dir, "--silent", "--disableTelemetry", "--skipApiVersionCheck") //nolint:noctx // Stop ends it
		},
	})
	r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPut, s.Endpoint+"/"+azureAccount+"/lake?restype=container", nil))(t)
	date := time.Now().UTC().Format(http.TimeFormat)
	r.Header.Set("X-Ms-Date", date)
	r.Header.Set("X-Ms-Version", "2021-08-06")
	mac := hmac.New(sha256.New, must.Get(base64.StdEncoding.DecodeString(azureKey))(t))
	fmt.Fprintf(mac, "PUT\n\n\n\n\n\n\n\n\n\n\n\nx-ms-date:%s\nx-ms-version:2021-08-06\n/%s/%s/lake\nrestype:container", date, azureAccount, azureAccount)
	r.Header.Set("Authorization", "SharedKey "+azureAccount+":"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	sent(t, r)
	return s
}
