// The same controller as bench/runtime/subjects/ours.ts, on controller-runtime: a manager that reconciles one kind and owns
// ConfigMaps. Reconcile reads the object from the cache and patches the status when it lags behind the revision.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const revisionAnnotation = "example.com/revision"

var scheme = runtime.NewScheme()

func init() {
	_ = clientgoscheme.AddToScheme(scheme)
	scheme.AddKnownTypes(websites, &Website{}, &WebsiteList{})
	metav1.AddToGroupVersion(scheme, websites)
}

func main() {
	var (
		url      = flag.String("url", "", "address of the server")
		ca       = flag.String("ca", "", "file with its authority")
		kind     = flag.String("kind", "website", "website or pod")
		form     = flag.String("form", "typed", "typed or unstructured")
		strip    = flag.Bool("strip", false, "drop managedFields before objects are cached")
		asJSON   = flag.Bool("json", false, "JSON also for built-in kinds, which come as protobuf otherwise")
		objects  = flag.Int64("objects", 0, "say so when that many objects have been reconciled")
		encoding = flag.Bool("encode", false, "turn a watch event of a Pod from JSON on stdin into protobuf on stdout")
	)
	flag.Parse()
	run := func() error { return runManager(*url, *ca, *kind, *form, *strip, *asJSON, *objects) }
	if *encoding {
		run = func() error { return encode(os.Stdin, os.Stdout) }
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func runManager(url, ca, kind, form string, strip, asJSON bool, objects int64) error {
	log.SetLogger(logr.Discard())
	config := &rest.Config{Host: url, TLSClientConfig: rest.TLSClientConfig{CAFile: ca}}
	// The default of 20 requests a second would be all that the latency shows.
	config.QPS = -1
	if asJSON {
		config.ContentType = "application/json"
	}
	options := ctrl.Options{Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"}}
	if strip {
		options.Cache = cache.Options{DefaultTransform: cache.TransformStripManagedFields()}
	}
	if form == "unstructured" {
		options.Client = client.Options{Cache: &client.CacheOptions{Unstructured: true}}
	}
	manager, err := ctrl.NewManager(config, options)
	if err != nil {
		return err
	}
	reconciler := &reconciler{client: manager.GetClient(), kind: kind, form: form, objects: objects}
	var predicates []predicate.Predicate
	if kind == "website" {
		predicates = append(predicates, predicate.GenerationChangedPredicate{})
	}
	err = ctrl.NewControllerManagedBy(manager).
		Named("bench").
		For(reconciler.newObject(), builder.WithPredicates(predicates...)).
		Owns(&corev1.ConfigMap{}, builder.OnlyMetadata).
		Complete(reconciler)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	go func() {
		// Blocks until the informer, which the controller uses too, has loaded everything.
		if _, err := manager.GetCache().GetInformer(ctx, reconciler.newObject()); err == nil {
			fmt.Println(`{"event":"synced"}`)
		}
	}()
	err = manager.Start(ctx)
	fmt.Printf("{\"event\":\"end\",\"reconciles\":%d}\n", reconciler.count.Load())
	return err
}

type reconciler struct {
	client     client.Client
	kind, form string
	objects    int64
	count      atomic.Int64
}

func (r *reconciler) newObject() client.Object {
	if r.form == "unstructured" {
		object := &unstructured.Unstructured{}
		if r.kind == "pod" {
			object.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Pod"))
		} else {
			object.SetGroupVersionKind(websites.WithKind("Website"))
		}
		return object
	}
	if r.kind == "pod" {
		return &corev1.Pod{}
	}
	return &Website{}
}

func (r *reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	if r.count.Add(1) == r.objects {
		fmt.Println(`{"event":"reconciled"}`)
	}
	object := r.newObject()
	if err := r.client.Get(ctx, request.NamespacedName, object); err != nil {
		if apierrors.IsNotFound(err) {
			return reconcile.Result{}, nil
		}
		return reconcile.Result{}, err
	}
	wanted, observed := revisions(object)
	if wanted == observed {
		return reconcile.Result{}, nil
	}
	patch := fmt.Appendf(nil, `{"status":{"message":%q}}`, wanted)
	return reconcile.Result{}, r.client.Status().Patch(ctx, object, client.RawPatch(types.MergePatchType, patch))
}

func revisions(object client.Object) (wanted, observed string) {
	switch object := object.(type) {
	case *Website:
		return object.Spec.Revision, object.Status.Message
	case *corev1.Pod:
		return object.Annotations[revisionAnnotation], object.Status.Message
	case *unstructured.Unstructured:
		observed, _, _ = unstructured.NestedString(object.Object, "status", "message")
		if object.GetKind() == "Pod" {
			return object.GetAnnotations()[revisionAnnotation], observed
		}
		wanted, _, _ = unstructured.NestedString(object.Object, "spec", "revision")
	}
	return wanted, observed
}
