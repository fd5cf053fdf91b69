package store

import (
	"cmp"
	"context"
	"encoding/base64"
	"net/url"
	"os"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"

	"github.com/ufs-stream/ufs-stream/internal/convert"
	"github.com/ufs-stream/ufs-stream/stream"
)

const searchedByAzure = "Azure: looked for in AZURE_STORAGE_KEY, AZURE_STORAGE_SAS_TOKEN, AZURE_STORAGE_CONNECTION_STRING, the variables of a service principal, the machine's identity and the sign-in of az login"

// The account name that local emulators of Azure accept, and its key, which is publicly known.
const (
	emulatorAccount = "devstoreaccount1"
	emulatorKey     = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
)

// azureSettings are the name, endpoint and credentials of an account, from the URL and the environment.
type azureSettings struct{ account, key, sas, endpoint string }

func openAzure(ctx context.Context, l Location) (*azure, error) {
	s, err := findAzureSettings(l)
	if err != nil {
		return nil, err
	}
	a := &azure{account: s.account}
	if a.endpoint, err = parseEndpoint(s.endpoint); err != nil {
		return nil, stream.Usagef("the endpoint of the Azure storage account %w", err)
	}
	if l.isAnonymous() {
		return a, nil
	}
	switch {
	case s.key != "":
		if a.key, err = base64.StdEncoding.DecodeString(s.key); err != nil {
			return nil, faultf("copy it again from the account", "the key of the Azure storage account is not in base64")
		}
	case s.sas != "":
		if a.sas, err = url.ParseQuery(strings.TrimPrefix(s.sas, "?")); err != nil || a.sas.Get("sig") == "" {
			return nil, faultf("copy it again: it begins with sv= and has a sig=", "AZURE_STORAGE_SAS_TOKEN or the connection string has no valid SAS")
		}
	default:
		if a.token, err = azidentity.NewDefaultAzureCredential(nil); err != nil {
			return nil, errNoCredentials(searchedByAzure, err)
		}
	}
	return a, ctx.Err()
}

var accountNamePattern = convert.CompilePattern(`^[A-Za-z0-9-]{1,63}$`)

// findAzureSettings collects the settings. The variable with the connection string overrides the other variables of the
// environment, and the URL overrides all variables. A key is used only for the account to which it belongs.
func findAzureSettings(l Location) (azureSettings, error) {
	env := azureSettings{account: os.Getenv("AZURE_STORAGE_ACCOUNT"), key: os.Getenv("AZURE_STORAGE_KEY"), sas: os.Getenv("AZURE_STORAGE_SAS_TOKEN")}
	protocol, domain := os.Getenv("AZURE_STORAGE_PROTOCOL"), os.Getenv("AZURE_STORAGE_DOMAIN")
	if text := os.Getenv("AZURE_STORAGE_CONNECTION_STRING"); text != "" {
		var err error
		if env, err = parseConnectionString(text); err != nil {
			return env, err
		}
	}
	s := env
	if account := l.query.Get("storage_account"); account != "" && account != env.account {
		s = azureSettings{account: account}
		if env.account == "" {
			s.key, s.sas = env.key, env.sas
		}
	}
	s.endpoint = cmp.Or(l.query.Get("endpoint"), s.endpoint)
	if p, d := l.query.Get("protocol"), l.query.Get("domain"); s.endpoint == "" || l.query.Get("endpoint") == "" && (p != "" || d != "") {
		if !accountNamePattern().MatchString(s.account) {
			return s, faultf("name it in AZURE_STORAGE_ACCOUNT, or in the URL: storage_account=…", "it is not known which Azure storage account the container is in")
		}
		domain = cmp.Or(d, domain, "blob.core.windows.net")
		s.endpoint = cmp.Or(p, protocol, "https") + "://" + s.account + "." + domain
		if isLoopback(strings.Split(domain, ":")[0]) {
			// Emulators have a folder for each account instead of a host name.
			s.endpoint = cmp.Or(p, protocol, "http") + "://" + domain + "/" + s.account
		}
	}
	if s.account == "" && s.key != "" {
		return s, faultf("name it in AZURE_STORAGE_ACCOUNT, or in the URL: storage_account=…", "it is not known which Azure storage account the key belongs to")
	}
	return s, nil
}

// AzureAccount returns the storage account of an azblob:// location, from its parameters or from the environment. It
// returns "" if neither of these contains it.
func (l Location) AzureAccount() string {
	s, err := findAzureSettings(l)
	if err != nil {
		return ""
	}
	return s.account
}

func parseConnectionString(text string) (azureSettings, error) {
	fields := map[string]string{}
	for _, part := range strings.Split(strings.TrimSpace(text), ";") {
		name, value, ok := strings.Cut(part, "=")
		if part == "" {
			continue
		}
		if !ok {
			return azureSettings{}, faultf("copy it again from the account", "AZURE_STORAGE_CONNECTION_STRING is not Name=value;Name=value")
		}
		fields[strings.ToLower(strings.TrimSpace(name))] = value
	}
	s := azureSettings{fields["accountname"], fields["accountkey"], fields["sharedaccesssignature"], fields["blobendpoint"]}
	if fields["usedevelopmentstorage"] == "true" {
		return azureSettings{emulatorAccount, emulatorKey, "", "http://127.0.0.1:10000/" + emulatorAccount}, nil
	}
	if s.endpoint == "" {
		if !accountNamePattern().MatchString(s.account) {
			return s, faultf("copy it again from the account", "AZURE_STORAGE_CONNECTION_STRING names neither an account nor a BlobEndpoint")
		}
		s.endpoint = cmp.Or(fields["defaultendpointsprotocol"], "https") + "://" + s.account + ".blob." + cmp.Or(fields["endpointsuffix"], "core.windows.net")
	}
	return s, nil
}
