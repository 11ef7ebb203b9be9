package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/retry"
)

const protobufType = "application/vnd.kubernetes.protobuf"

var configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

func protobufClient(config *rest.Config) (*kubernetes.Clientset, error) {
	config.ContentType = protobufType
	config.AcceptContentTypes = protobufType + ",application/json"
	return kubernetes.NewForConfig(config)
}

func createNamespace(ctx context.Context, config *rest.Config, name string) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	_, err = client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{})
	return err
}

func configMap(name string, data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": "probe"}}, Data: data}
}

func deployment(name string) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "web:1"}}},
			},
		},
	}
}

func expect(what string, got, want any) error {
	if got != want {
		return fmt.Errorf("%s: got %v, want %v", what, got, want)
	}
	return nil
}

func typedClient(ctx context.Context, config *rest.Config, namespace string) error {
	client, err := protobufClient(config)
	if err != nil {
		return err
	}
	maps := client.CoreV1().ConfigMaps(namespace)
	created, err := maps.Create(ctx, configMap("a", map[string]string{"x": "1"}), metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("create: %w", err)
	}
	if err := expect("data", created.Data["x"], "1"); err != nil {
		return err
	}
	created.Data["x"] = "2"
	updated, err := maps.Update(ctx, created, metav1.UpdateOptions{})
	if err != nil {
		return fmt.Errorf("update: %w", err)
	}
	if updated.ResourceVersion == created.ResourceVersion {
		return errors.New("the version did not move")
	}
	if _, err := maps.Update(ctx, created, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
		return fmt.Errorf("stale update: %v", err)
	}
	if _, err := maps.Get(ctx, "none", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		return fmt.Errorf("get of nothing: %v", err)
	}
	if _, err := maps.Create(ctx, configMap("a", nil), metav1.CreateOptions{}); !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create twice: %v", err)
	}
	if _, err := maps.Create(ctx, configMap("Not_Good", nil), metav1.CreateOptions{}); !apierrors.IsInvalid(err) {
		return fmt.Errorf("bad name: %v", err)
	}
	deployed, err := client.AppsV1().Deployments(namespace).Create(ctx, deployment("d"), metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("create a Deployment: %w", err)
	}
	if err := expect("default replicas", *deployed.Spec.Replicas, int32(1)); err != nil {
		return err
	}
	// The Deployment controller of a real cluster writes too.
	deployments := client.AppsV1().Deployments(namespace)
	if err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		if deployed, err = deployments.Get(ctx, "d", metav1.GetOptions{}); err != nil {
			return err
		}
		deployed.Status.ObservedGeneration = 7
		deployed.Status.Conditions = []appsv1.DeploymentCondition{{Type: "Tried", Status: corev1.ConditionTrue}}
		deployed, err = deployments.UpdateStatus(ctx, deployed, metav1.UpdateOptions{})
		return err
	}); err != nil {
		return fmt.Errorf("update status: %w", err)
	}
	if err := expect("observed generation", deployed.Status.ObservedGeneration, int64(7)); err != nil {
		return err
	}
	scale := &autoscalingv1.Scale{}
	if err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		if scale, err = deployments.GetScale(ctx, "d", metav1.GetOptions{}); err != nil {
			return err
		}
		scale.Spec.Replicas = 3
		scale, err = deployments.UpdateScale(ctx, "d", scale, metav1.UpdateOptions{})
		return err
	}); err != nil {
		return fmt.Errorf("update scale: %w", err)
	}
	if err := expect("scale", scale.Spec.Replicas, int32(3)); err != nil {
		return err
	}
	list, err := maps.List(ctx, metav1.ListOptions{LabelSelector: "app=probe", Limit: 1})
	if err != nil {
		return fmt.Errorf("list: %w", err)
	}
	if err := expect("items", len(list.Items), 1); err != nil {
		return err
	}
	policy := metav1.DeletePropagationBackground
	if err := maps.Delete(ctx, "a", metav1.DeleteOptions{PropagationPolicy: &policy}); err != nil {
		return fmt.Errorf("delete: %w", err)
	}
	return maps.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "app=probe"})
}

func dynamicClient(ctx context.Context, config *rest.Config, namespace string) error {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	maps := client.Resource(configMaps).Namespace(namespace)
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": "a"}, "data": map[string]any{"x": "1"},
	}}
	if _, err := maps.Create(ctx, object, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("create: %w", err)
	}
	patched, err := maps.Patch(ctx, "a", types.MergePatchType, []byte(`{"data":{"y":"2"}}`), metav1.PatchOptions{})
	if err != nil {
		return fmt.Errorf("patch: %w", err)
	}
	value, _, _ := unstructured.NestedString(patched.Object, "data", "y")
	if err := expect("patched", value, "2"); err != nil {
		return err
	}
	watcher, err := maps.Watch(ctx, metav1.ListOptions{
		ResourceVersion: patched.GetResourceVersion(),
		// A real cluster puts a ConfigMap of its own into every namespace.
		FieldSelector: "metadata.name=a",
	})
	if err != nil {
		return fmt.Errorf("watch: %w", err)
	}
	defer watcher.Stop()
	if err := maps.Delete(ctx, "a", metav1.DeleteOptions{}); err != nil {
		return fmt.Errorf("delete: %w", err)
	}
	select {
	case event := <-watcher.ResultChan():
		return expect("event", string(event.Type), "DELETED")
	case <-ctx.Done():
		return errors.New("no event came")
	}
}

func serverSideApply(ctx context.Context, config *rest.Config, namespace string) error {
	client, err := protobufClient(config)
	if err != nil {
		return err
	}
	maps := client.CoreV1().ConfigMaps(namespace)
	wanted := applycorev1.ConfigMap("a", namespace).WithData(map[string]string{"x": "1"})
	if _, err := maps.Apply(ctx, wanted, metav1.ApplyOptions{FieldManager: "one"}); err != nil {
		return fmt.Errorf("apply: %w", err)
	}
	other := applycorev1.ConfigMap("a", namespace).WithData(map[string]string{"x": "2"})
	if _, err := maps.Apply(ctx, other, metav1.ApplyOptions{FieldManager: "two"}); !apierrors.IsConflict(err) {
		return fmt.Errorf("conflict: %v", err)
	}
	applied, err := maps.Apply(ctx, other, metav1.ApplyOptions{FieldManager: "two", Force: true})
	if err != nil {
		return fmt.Errorf("force: %w", err)
	}
	extracted, err := applycorev1.ExtractConfigMap(applied, "two")
	if err != nil {
		return fmt.Errorf("extract: %w", err)
	}
	return expect("extracted", extracted.Data["x"], "2")
}

// watchAll runs an informer until it has seen an object come, change and go.
func watchAll(ctx context.Context, client *kubernetes.Clientset, namespace string) error {
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(namespace))
	informer := factory.Core().V1().ConfigMaps().Informer()
	var added, changed, gone atomic.Int32
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { added.Add(1) },
		UpdateFunc: func(any, any) { changed.Add(1) },
		DeleteFunc: func(any) { gone.Add(1) },
	}); err != nil {
		return err
	}
	maps := client.CoreV1().ConfigMaps(namespace)
	if _, err := maps.Create(ctx, configMap("before", nil), metav1.CreateOptions{}); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	factory.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		return errors.New("the cache did not fill")
	}
	if _, exists, _ := informer.GetStore().GetByKey(namespace + "/before"); !exists {
		return errors.New("what was there before is not in the cache")
	}
	made, err := maps.Create(ctx, configMap("after", nil), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	made.Data = map[string]string{"x": "1"}
	if _, err := maps.Update(ctx, made, metav1.UpdateOptions{}); err != nil {
		return err
	}
	if err := maps.Delete(ctx, "after", metav1.DeleteOptions{}); err != nil {
		return err
	}
	return wait.PollUntilContextCancel(ctx, 10*time.Millisecond, true, func(context.Context) (bool, error) {
		return added.Load() >= 2 && changed.Load() >= 1 && gone.Load() == 1, nil
	})
}

func informer(ctx context.Context, config *rest.Config, namespace string) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	return watchAll(ctx, client, namespace)
}

func streamingInformer(ctx context.Context, config *rest.Config, namespace string) error {
	client, err := protobufClient(config)
	if err != nil {
		return err
	}
	initial := true
	watcher, err := client.CoreV1().ConfigMaps(namespace).Watch(ctx, metav1.ListOptions{
		SendInitialEvents:    &initial,
		AllowWatchBookmarks:  true,
		ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
	})
	if err != nil {
		return err
	}
	defer watcher.Stop()
	for ended := false; !ended; {
		select {
		case event := <-watcher.ResultChan():
			object, isMap := event.Object.(*corev1.ConfigMap)
			if !isMap {
				return fmt.Errorf("the stream brought %s %T", event.Type, event.Object)
			}
			ended = object.Annotations[metav1.InitialEventsAnnotationKey] == "true"
		case <-ctx.Done():
			return errors.New("the initial events did not end")
		}
	}
	return watchAll(ctx, client, namespace)
}

func metadataClient(ctx context.Context, config *rest.Config, namespace string) error {
	typed, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	if _, err := typed.CoreV1().ConfigMaps(namespace).Create(ctx, configMap("a", nil), metav1.CreateOptions{}); err != nil {
		return err
	}
	client, err := metadata.NewForConfig(config)
	if err != nil {
		return err
	}
	list, err := client.Resource(configMaps).Namespace(namespace).List(ctx, metav1.ListOptions{LabelSelector: "app=probe"})
	if err != nil {
		return err
	}
	if err := expect("items", len(list.Items), 1); err != nil {
		return err
	}
	return client.Resource(configMaps).Namespace(namespace).Delete(ctx, "a", metav1.DeleteOptions{})
}

func discoveryAndMapping(_ context.Context, config *rest.Config, _ string) error {
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return err
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client))
	mapping, err := mapper.RESTMapping(schema.GroupKind{Group: "apps", Kind: "Deployment"})
	if err != nil {
		return err
	}
	if err := expect("resource", mapping.Resource.Resource, "deployments"); err != nil {
		return err
	}
	if _, err := client.ServerVersion(); err != nil {
		return err
	}
	paths, err := client.OpenAPIV3().Paths()
	if err != nil {
		return err
	}
	if _, known := paths["apis/apps/v1"]; !known {
		return errors.New("no schema of apps/v1")
	}
	_, err = paths["apis/apps/v1"].Schema("application/json")
	return err
}

func events(ctx context.Context, config *rest.Config, namespace string) error {
	client, err := protobufClient(config)
	if err != nil {
		return err
	}
	object, err := client.CoreV1().ConfigMaps(namespace).Create(ctx, configMap("a", nil), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	object.APIVersion, object.Kind = "v1", "ConfigMap"
	broadcaster := record.NewBroadcaster(record.WithContext(ctx))
	defer broadcaster.Shutdown()
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: client.CoreV1().Events(namespace)})
	recorder := broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "probe"})
	recorder.Event(object, corev1.EventTypeNormal, "Tried", "hello")
	recorder.Event(object, corev1.EventTypeNormal, "Tried", "hello")
	return wait.PollUntilContextCancel(ctx, 20*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		list, err := client.CoreV1().Events(namespace).List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.name=a"})
		return err == nil && len(list.Items) == 1 && list.Items[0].Count == 2, err
	})
}

func leaderElection(ctx context.Context, config *rest.Config, namespace string) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	lead := func(ctx context.Context, identity string, onStart func()) error {
		lock := &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Name: "leader", Namespace: namespace},
			Client:     client.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: identity},
		}
		elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
			Lock: lock, ReleaseOnCancel: true,
			LeaseDuration: 4 * time.Second, RenewDeadline: 3 * time.Second, RetryPeriod: 200 * time.Millisecond,
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: func(context.Context) { onStart() },
				OnStoppedLeading: func() {},
			},
		})
		if err != nil {
			return err
		}
		elector.Run(ctx)
		return nil
	}
	first, stopFirst := context.WithCancel(ctx)
	defer stopFirst()
	leading := make(chan string, 2)
	ended := make(chan error, 2)
	go func() { ended <- lead(first, "first", func() { leading <- "first" }) }()
	if err := expect("leader", <-leading, "first"); err != nil {
		return err
	}
	second, stopSecond := context.WithCancel(ctx)
	defer stopSecond()
	go func() { ended <- lead(second, "second", func() { leading <- "second" }) }()
	stopFirst()
	if err := <-ended; err != nil {
		return err
	}
	select {
	case name := <-leading:
		return expect("leader after the first gave up", name, "second")
	case <-ctx.Done():
		return errors.New("nobody took over")
	}
}

func retryOnConflict(ctx context.Context, config *rest.Config, namespace string) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	maps := client.CoreV1().ConfigMaps(namespace)
	if _, err := maps.Create(ctx, configMap("a", map[string]string{}), metav1.CreateOptions{}); err != nil {
		return err
	}
	const writers = 8
	ended := make(chan error, writers)
	backoff := retry.DefaultBackoff
	backoff.Steps = 50
	for index := range writers {
		go func() {
			ended <- retry.RetryOnConflict(backoff, func() error {
				object, err := maps.Get(ctx, "a", metav1.GetOptions{})
				if err != nil {
					return err
				}
				if object.Data == nil {
					object.Data = map[string]string{}
				}
				object.Data[fmt.Sprintf("w%d", index)] = "here"
				_, err = maps.Update(ctx, object, metav1.UpdateOptions{})
				return err
			})
		}()
	}
	for range writers {
		if err := <-ended; err != nil {
			return err
		}
	}
	object, err := maps.Get(ctx, "a", metav1.GetOptions{})
	if err != nil {
		return err
	}
	return expect("writes that are there", len(object.Data), writers)
}

var boats = schema.GroupVersionResource{Group: "probes.example.com", Version: "v1", Resource: "boats"}
var crds = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

func installBoats(ctx context.Context, client dynamic.Interface) error {
	crd := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": "boats.probes.example.com"},
		"spec": map[string]any{
			"group": "probes.example.com", "scope": "Namespaced",
			"names": map[string]any{"plural": "boats", "singular": "boat", "kind": "Boat"},
			"versions": []any{map[string]any{
				"name": "v1", "served": true, "storage": true,
				"subresources": map[string]any{"status": map[string]any{}},
				"schema": map[string]any{"openAPIV3Schema": map[string]any{
					"type": "object",
					"properties": map[string]any{
						"spec":   map[string]any{"type": "object", "properties": map[string]any{"length": map[string]any{"type": "integer", "minimum": int64(1)}}},
						"status": map[string]any{"type": "object", "properties": map[string]any{"phase": map[string]any{"type": "string"}}},
					},
				}},
			}},
		},
	}}
	if _, err := client.Resource(crds).Create(ctx, crd, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	return wait.PollUntilContextCancel(ctx, 50*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		_, err := client.Resource(boats).List(ctx, metav1.ListOptions{})
		return err == nil, nil
	})
}

func boat(name string, length int64) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "probes.example.com/v1", "kind": "Boat",
		"metadata": map[string]any{"name": name}, "spec": map[string]any{"length": length},
	}}
}

func customResources(ctx context.Context, config *rest.Config, namespace string) error {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	if err := installBoats(ctx, client); err != nil {
		return err
	}
	resource := client.Resource(boats).Namespace(namespace)
	if _, err := resource.Create(ctx, boat("small", 0), metav1.CreateOptions{}); !apierrors.IsInvalid(err) {
		return fmt.Errorf("too short: %v", err)
	}
	made, err := resource.Create(ctx, boat("one", 3), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	if err := unstructured.SetNestedField(made.Object, "Afloat", "status", "phase"); err != nil {
		return err
	}
	made, err = resource.UpdateStatus(ctx, made, metav1.UpdateOptions{})
	if err != nil {
		return err
	}
	phase, _, _ := unstructured.NestedString(made.Object, "status", "phase")
	if err := expect("phase", phase, "Afloat"); err != nil {
		return err
	}
	applied, err := resource.Apply(ctx, "two", boat("two", 4), metav1.ApplyOptions{FieldManager: "probe"})
	if err != nil {
		return err
	}
	var typed struct {
		Spec struct {
			Length int64 `json:"length"`
		} `json:"spec"`
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(applied.Object, &typed); err != nil {
		return err
	}
	return expect("length", typed.Spec.Length, int64(4))
}
