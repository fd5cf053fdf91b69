package storetest

import (
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/internal/testing/testtool"
)

// IsolateEnvironment hides the machine's configuration and credentials of stores from a test.
func IsolateEnvironment(t testing.TB) {
	t.Helper()
	setVariables(t, isolatedVariables(t))
}

// RunEverywhere runs a test with each kind of store that can be written, in parallel subtests. The environment has
// credentials for all of them, and must not be changed.
func RunEverywhere(t *testing.T, test func(t *testing.T, s *Server)) {
	t.Helper()
	setVariables(t, isolatedVariables(t), s3Credentials(), azureCredentials())
	for name, start := range map[string]func(testing.TB) *Server{"s3": startS3, "gs": startGCS, "azblob": startAzure} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, start(t))
		})
	}
}

func setVariables(t testing.TB, all ...map[string]string) {
	t.Helper()
	for _, variables := range all {
		for name, value := range variables {
			t.Setenv(name, value)
		}
	}
}

// isolatedVariables returns environment variables that hide the configuration of stores by this machine's user, so that
// a test finds only its own configuration.
func isolatedVariables(t testing.TB) map[string]string {
	t.Helper()
	home := t.TempDir()
	none := filepath.Join(home, "none")
	must.Do(t, os.WriteFile(none, nil, 0o600))
	variables := testtool.CacheEnvironment(t)
	maps.Copy(variables, map[string]string{
		"HOME": home, "AWS_CONFIG_FILE": none, "AWS_SHARED_CREDENTIALS_FILE": none, "AWS_EC2_METADATA_DISABLED": "true",
		"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_SESSION_TOKEN": "", "AWS_PROFILE": "", "AWS_DEFAULT_PROFILE": "",
		"AWS_REGION": "", "AWS_DEFAULT_REGION": "", "AWS_ENDPOINT_URL": "", "AWS_ENDPOINT_URL_S3": "",
		"AWS_WEB_IDENTITY_TOKEN_FILE": "", "AWS_ROLE_ARN": "",
		"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "", "AWS_CONTAINER_CREDENTIALS_FULL_URI": "",
		"GOOGLE_APPLICATION_CREDENTIALS": "", "STORAGE_EMULATOR_HOST": "", "CLOUDSDK_CONFIG": home,
		"AZURE_STORAGE_ACCOUNT": "", "AZURE_STORAGE_KEY": "", "AZURE_STORAGE_SAS_TOKEN": "", "AZURE_STORAGE_CONNECTION_STRING": "",
		"AZURE_STORAGE_DOMAIN": "", "AZURE_STORAGE_PROTOCOL": "",
		"AZURE_TENANT_ID": "", "AZURE_CLIENT_ID": "", "AZURE_CLIENT_SECRET": "", "AZURE_FEDERATED_TOKEN_FILE": "", "AZURE_CONFIG_DIR": home,
		"NO_PROXY": "127.0.0.1,localhost",
	})
	return variables
}
