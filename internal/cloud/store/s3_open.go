package store

import (
	"cmp"
	"context"
	"net"
	"net/url"
	"os"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/smithy-go/logging"

	"github.com/ufs-stream/ufs-stream/stream"
)

func openS3(ctx context.Context, l Location) (*s3, error) {
	s := &s3{region: l.query.Get("region"), signer: v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true })}
	endpoint := l.query.Get("endpoint")
	if l.isAnonymous() {
		s.region = cmp.Or(s.region, os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"))
		endpoint = cmp.Or(endpoint, os.Getenv("AWS_ENDPOINT_URL_S3"), os.Getenv("AWS_ENDPOINT_URL"))
	} else {
		configured, err := loadAWSConfig(ctx, l)
		if err != nil {
			return nil, err
		}
		s.credentials = configured.Credentials
		s.region = cmp.Or(s.region, configured.Region)
		if endpoint == "" {
			endpoint = endpointOf(ctx, configured)
		}
	}
	s.region = cmp.Or(s.region, "us-east-1")
	switch {
	case strings.ContainsAny(s.region, "/?#@: "):
		return nil, stream.Usagef("the configured region of S3 is not the name of a region")
	case endpoint == "":
		domain := ".amazonaws.com"
		if strings.HasPrefix(s.region, "cn-") {
			domain = ".amazonaws.com.cn"
		}
		s.endpoint = &url.URL{Scheme: "https", Host: "s3." + s.region + domain}
	default:
		var err error
		if s.endpoint, err = parseEndpoint(endpoint); err != nil {
			return nil, stream.Usagef("the configured endpoint of S3 (AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL or the profile's) %w", err)
		}
	}
	host := s.endpoint.Hostname()
	s.byPath = l.query.Get("use_path_style") == "true" || net.ParseIP(host) != nil || host == "localhost"
	return s, nil
}

func loadAWSConfig(ctx context.Context, l Location) (aws.Config, error) {
	options := []func(*config.LoadOptions) error{config.WithLogger(logging.Nop{})}
	if profile := l.query.Get("profile"); profile != "" {
		options = append(options, config.WithSharedConfigProfile(profile))
	}
	configured, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return aws.Config{}, faultf("mend AWS_PROFILE, ~/.aws/config or ~/.aws/credentials; {anonymous}, or anonymous=true in the URL, reads public data without them",
			"the configuration of AWS cannot be read: %s", providerText(err))
	}
	return configured, nil
}

// endpointOf returns the endpoint that the environment or the profile sets. An endpoint that is set for S3 overrides an
// endpoint that is set for all services. The SDK does the same only in its client for S3, which is not used here.
func endpointOf(ctx context.Context, configured aws.Config) string {
	for _, source := range configured.ConfigSources {
		if s, ok := source.(interface {
			GetIgnoreConfiguredEndpoints(context.Context) (bool, bool, error)
		}); ok {
			if ignore, found, err := s.GetIgnoreConfiguredEndpoints(ctx); err == nil && found && ignore {
				return ""
			}
		}
	}
	for _, source := range configured.ConfigSources {
		if s, ok := source.(interface {
			GetServiceBaseEndpoint(context.Context, string) (string, bool, error)
		}); ok {
			if endpoint, found, err := s.GetServiceBaseEndpoint(ctx, "S3"); err == nil && found && endpoint != "" {
				return endpoint
			}
		}
	}
	return aws.ToString(configured.BaseEndpoint)
}
