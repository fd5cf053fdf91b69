package manifests

import (
	"context"
	"fmt"
	"os"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/batch"
	_ "k8s.io/kubernetes/pkg/apis/batch/install" // into legacyscheme
	"k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	"k8s.io/kubernetes/pkg/registry/batch/job"
	"k8s.io/kubernetes/pkg/registry/core/configmap"
)

const namespace = "default"

// decode reads a manifest as the API server does where it is strict: a field that the type of
// k8s.io/api has not, or has twice, is an error.
func decode(path string) (runtime.Object, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if strings.Contains(string(content), "\n---") {
		return nil, fmt.Errorf("%s: one object a file", path)
	}
	object, _, err := serializer.NewCodecFactory(legacyscheme.Scheme, serializer.EnableStrict).UniversalDeserializer().Decode(content, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return object, nil
}

// admit does to an object what the API server does when it is created: it sets defaults, makes
// what the server makes, as the selector of a Job, and validates.
func admit(ctx context.Context, object runtime.Object) (runtime.Object, error) {
	ctx = request.WithNamespace(ctx, namespace)
	var (
		internal, out runtime.Object
		strategy      rest.RESTCreateStrategy
		version       schema.GroupVersion
	)
	switch object.(type) {
	case *batchv1.Job:
		internal, out, strategy, version = &batch.Job{}, &batchv1.Job{}, job.Strategy, batchv1.SchemeGroupVersion
	case *corev1.ConfigMap:
		internal, out, strategy, version = &core.ConfigMap{}, &corev1.ConfigMap{}, configmap.Strategy, corev1.SchemeGroupVersion
	default:
		return nil, fmt.Errorf("a %T is not known here", object)
	}
	ctx = request.WithRequestInfo(ctx, &request.RequestInfo{APIGroup: version.Group, APIVersion: version.Version})
	legacyscheme.Scheme.Default(object)
	if err := legacyscheme.Scheme.Convert(object, internal, nil); err != nil {
		return nil, err
	}
	identity, err := meta.Accessor(internal)
	if err != nil {
		return nil, err
	}
	rest.FillObjectMetaSystemFields(identity)
	if err := rest.BeforeCreate(strategy, ctx, internal); err != nil {
		return nil, err
	}
	if warnings := strategy.WarningsOnCreate(ctx, internal); len(warnings) > 0 {
		return nil, fmt.Errorf("the API server would warn: %s", strings.Join(warnings, "; "))
	}
	return out, legacyscheme.Scheme.Convert(internal, out, nil)
}
