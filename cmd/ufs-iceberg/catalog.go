package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/catalog"
	_ "github.com/apache/iceberg-go/catalog/glue" // registers the Glue catalog
	"github.com/apache/iceberg-go/catalog/rest"
	icebergio "github.com/apache/iceberg-go/io"
	"github.com/apache/iceberg-go/table"

	"github.com/ufs-stream/ufs-stream/internal/app/shell"
	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Environment variables that contain the secrets of REST catalogs, which must not appear on a command line.
const (
	tokenVariable      = "ICEBERG_REST_TOKEN"
	credentialVariable = "ICEBERG_REST_CREDENTIAL"
)

func openTable(ctx context.Context, q request) (*table.Table, *lake, error) {
	if q.catalog == hadoopCatalog {
		return openHadoop(ctx, q)
	}
	props := iceberg.Properties{"type": q.catalog}
	for _, p := range q.properties {
		name, value, ok := strings.Cut(p, "=")
		if !ok || name == "" {
			return nil, nil, stream.Usagef("{property} %s: want NAME=VALUE", p)
		}
		props[name] = value
	}
	set := func(name, value string) {
		if value != "" {
			props[name] = value
		}
	}
	set("uri", q.uri)
	set("warehouse", q.warehouse)
	if q.catalog == restCatalog {
		set("token", os.Getenv(tokenVariable))
		set("credential", os.Getenv(credentialVariable))
	} else {
		set("glue.region", cmp.Or(props["glue.region"], os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION")))
	}
	at := q.catalog
	if q.uri != "" {
		at = place.DisplayName(q.uri)
	}
	l := newLake(ctx, q)
	l.userParameters = cmp.Or(q.store, parametersForStore(props))
	ctx = context.WithValue(ctx, lakeKey{}, l)
	named := strings.Split(q.table, ".")
	t, err := loadWithRetries(ctx, props, named)
	if err != nil {
		return nil, nil, explainCatalogError(at, q, err)
	}
	if l.scope == nil { // with Glue, loading the table has opened its location, which sets the scope
		own, err := parseLocation(t.Metadata().Location())
		if err == nil {
			err = l.adoptBucket(own)
		}
		if err == nil { // check it even if the table has no files yet
			_, err = l.resolvePlace(strings.TrimSuffix(t.Metadata().Location(), "/") + "/metadata")
		}
		if err != nil {
			return nil, nil, err
		}
	}
	if err := l.checkStoreServer(ctx, at, t); err != nil {
		return nil, nil, err
	}
	return table.New(named, t.Metadata(), t.MetadataLocation(), func(context.Context) (icebergio.IO, error) { return l, nil }, nil), l, nil
}

func loadWithRetries(ctx context.Context, props iceberg.Properties, name table.Identifier) (t *table.Table, err error) {
	for try := range len(retryPauses) + 1 {
		if t, err = loadTable(ctx, props, name); err == nil || !isTemporary(err) || try == len(retryPauses) {
			break
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(retryPauses[try]):
		}
	}
	return t, err
}

// checkStoreServer returns an error if the catalog names a server for the table's files that the user did not name.
// This server would receive requests signed with the user's credentials. Servers of Amazon and Google are accepted.
func (l *lake) checkStoreServer(ctx context.Context, at string, t *table.Table) error {
	if _, err := t.FS(ctx); err != nil { // makes l record the catalog's settings for stores
		return asDataError(at, "the files of "+l.table+" cannot be opened", err)
	}
	endpoint := endpointPattern.FindStringSubmatch(l.catalogParameters)
	if endpoint == nil || endpointPattern.MatchString(l.userParameters) || vendorEndpoint.MatchString(endpoint[1]) {
		return nil
	}
	for _, variable := range []string{"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "STORAGE_EMULATOR_HOST"} {
		if os.Getenv(variable) != "" {
			return nil
		}
	}
	e := stream.Dataf(at, "it names %s as the server of the files of %s, and only arguments, the environment and configuration choose that", endpoint[1], l.table)
	e.Remedy = stream.Textf("if you trust it, add {store} %s", shell.Quote(l.catalogParameters))
	return e
}

var (
	endpointPattern = regexp.MustCompile(`(?:^|&)endpoint=([^&]*)`) // within URL parameters
	vendorEndpoint  = regexp.MustCompile(`^https://([a-z0-9-]+\.)*(amazonaws\.com(\.cn)?|storage\.googleapis\.com)/?$`)
)

// retryPauses has the pauses before each repetition of a request to a catalog that is down or busy.
var retryPauses = [...]time.Duration{500 * time.Millisecond, 2 * time.Second}

func loadTable(ctx context.Context, props iceberg.Properties, name table.Identifier) (*table.Table, error) {
	openCatalog := openREST
	if props["type"] != restCatalog {
		openCatalog = func(ctx context.Context, props iceberg.Properties) (catalog.Catalog, error) {
			return catalog.Load(ctx, "", props)
		}
	}
	c, err := openCatalog(ctx, props)
	if err != nil {
		return nil, err
	}
	if closer, ok := c.(catalog.Closer); ok {
		defer closer.Close() //nolint:errcheck // of a reporter of metrics that is not used
	}
	return c.LoadTable(ctx, name)
}

func explainCatalogError(at string, q request, err error) error {
	var known *stream.DataError
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &known): // omit the text that the library has added
		return known
	case errors.Is(err, catalog.ErrNoSuchTable):
		return stream.Dataf(at, "this catalog has no table %s", q.table)
	case errors.Is(err, rest.ErrUnauthorized) || errors.Is(err, rest.ErrForbidden) || errors.Is(err, rest.ErrAuthorizationExpired):
		e := stream.Dataf(at, "this catalog does not let us in: %w", err)
		e.Remedy = stream.Textf("set %s, or %s to CLIENT:SECRET", tokenVariable, credentialVariable)
		return e
	case isTemporary(err):
		e := stream.Dataf(at, "this catalog cannot be asked: %w", temporaryError{err})
		e.Remedy = stream.Textf("try again when it answers")
		return e
	}
	return asDataError(at, "this catalog does not give the table "+q.table, err)
}

func isTemporary(err error) bool {
	var dial *net.OpError
	var name *net.DNSError
	var slow interface{ Timeout() bool }
	switch {
	case errors.As(err, &name):
		return name.IsTemporary || name.IsTimeout
	case errors.Is(err, rest.ErrServiceUnavailable), errors.Is(err, rest.ErrServerError), errors.As(err, &dial), errors.Is(err, io.ErrUnexpectedEOF):
		return true
	}
	return errors.As(err, &slow) && slow.Timeout()
}

// temporaryError marks an error after which the same command may succeed later.
type temporaryError struct{ error }

func (p temporaryError) Unwrap() error        { return p.error }
func (p temporaryError) Is(target error) bool { return target == stream.ErrTemporary } //nolint:errorlint // errors.Is unwraps by itself

// catalogTransport sends requests only to the catalog servers that the user named. It is needed because the library
// signs each request again, even if a redirect or the catalog's configuration sends it to another server.
type catalogTransport struct {
	http.RoundTripper
	servers []*url.URL
	signs   bool // requests may be signed with AWS credentials
}

func openREST(ctx context.Context, props iceberg.Properties) (catalog.Catalog, error) {
	t := &catalogTransport{signs: strings.EqualFold(props["rest.sigv4-enabled"], "true")}
	options := []rest.Option{
		rest.WithCustomTransport(t), rest.WithAdditionalProps(props), rest.WithWarehouseLocation(props["warehouse"]), rest.WithPrefix(props["prefix"]),
		rest.WithOAuthToken(props["token"]), rest.WithCredential(props["credential"]),
		rest.WithScope(props["scope"]), rest.WithAudience(props["audience"]), rest.WithResource(props["resource"]),
	}
	if t.signs {
		options = append(options, rest.WithSigV4RegionSvc(props["rest.signing-region"], props["rest.signing-name"]))
	}
	tokens := cmp.Or(props["oauth2-server-uri"], props["rest.authorization-url"])
	for _, address := range []string{props["uri"], tokens} {
		server, err := url.Parse(address)
		if err != nil || address != "" && server.Host == "" {
			return nil, stream.Usagef("the address of the catalog, or of the server of its tokens, is not https://HOST/PATH")
		}
		if address != "" {
			t.servers = append(t.servers, server)
		}
		if address == tokens && address != "" {
			options = append(options, rest.WithAuthURI(server))
		}
	}
	own := &http.Transport{Proxy: http.ProxyFromEnvironment}
	if strings.EqualFold(props["rest.tls.skip-verify"], "true") {
		own.TLSClientConfig = &tls.Config{InsecureSkipVerify: true} //nolint:gosec // the user said so
	}
	t.RoundTripper = own
	return rest.NewCatalog(ctx, "", props["uri"], options...)
}

// RoundTrip implements http.RoundTripper: it sends a request only to a catalog server that the user named.
func (t *catalogTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-") && !t.signs {
		e := stream.Dataf(t.servers[0].Host, "this catalog wants requests that are signed with the credentials of AWS")
		e.Remedy = stream.Textf("if you trust it, add {property} rest.sigv4-enabled=true")
		return nil, e
	}
	for _, server := range t.servers {
		if server.Scheme == r.URL.Scheme && strings.EqualFold(server.Host, r.URL.Host) {
			return t.RoundTripper.RoundTrip(r)
		}
	}
	e := stream.Dataf(t.servers[0].Host, "this catalog sends us to %s, which would get the credentials for it", r.URL.Host)
	e.Remedy = stream.Textf("if you trust that server, give it as {uri}, or for tokens as {property} %s", shell.Quote("oauth2-server-uri="+r.URL.Scheme+"://"+r.URL.Host+r.URL.Path))
	return nil, e
}
