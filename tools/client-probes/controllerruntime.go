package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/go-logr/logr"
)

func runtimeClient(ctx context.Context, config *rest.Config, namespace string) error {
	direct, err := client.New(config, client.Options{Scheme: scheme.Scheme})
	if err != nil {
		return err
	}
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: namespace}}
	result, err := controllerutil.CreateOrUpdate(ctx, direct, object, func() error {
		object.Data = map[string]string{"x": "1"}
		return nil
	})
	if err != nil {
		return err
	}
	if err := expect("first time", string(result), string(controllerutil.OperationResultCreated)); err != nil {
		return err
	}
	result, err = controllerutil.CreateOrUpdate(ctx, direct, object, func() error {
		object.Data = map[string]string{"x": "1"}
		return nil
	})
	if err != nil {
		return err
	}
	if err := expect("second time", string(result), string(controllerutil.OperationResultNone)); err != nil {
		return err
	}
	before := object.DeepCopy()
	object.Data["y"] = "2"
	if err := direct.Patch(ctx, object, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return err
	}
	if err := direct.Patch(ctx, object.DeepCopy(), client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); !apierrors.IsConflict(err) {
		return fmt.Errorf("patch of an old version: %v", err)
	}
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMapList"))
	if err := direct.List(ctx, list, client.InNamespace(namespace)); err != nil {
		return err
	}
	return direct.DeleteAllOf(ctx, &corev1.ConfigMap{}, client.InNamespace(namespace))
}

// runtimeManager runs a controller with leader election that answers every ConfigMap with a Secret it owns.
func runtimeManager(ctx context.Context, config *rest.Config, namespace string) error {
	log.SetLogger(logr.Discard())
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                  scheme.Scheme,
		Metrics:                 metricsserver.Options{BindAddress: "0"},
		LeaderElection:          true,
		LeaderElectionID:        "probe.example.com",
		LeaderElectionNamespace: namespace,
		Cache:                   cache.Options{DefaultNamespaces: map[string]cache.Config{namespace: {}}},
	})
	if err != nil {
		return err
	}
	kube := manager.GetClient()
	err = ctrl.NewControllerManagedBy(manager).For(&corev1.ConfigMap{}).Owns(&corev1.Secret{}).Complete(
		reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
			owner := &corev1.ConfigMap{}
			if err := kube.Get(ctx, request.NamespacedName, owner); err != nil {
				return reconcile.Result{}, client.IgnoreNotFound(err)
			}
			secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: owner.Name, Namespace: owner.Namespace}}
			_, err := controllerutil.CreateOrUpdate(ctx, kube, secret, func() error {
				secret.StringData = owner.Data
				return controllerutil.SetControllerReference(owner, secret, scheme.Scheme)
			})
			return reconcile.Result{}, err
		}))
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(ctx) }()
	select {
	case <-manager.Elected():
	case err := <-ended:
		return fmt.Errorf("the manager ended: %w", err)
	case <-ctx.Done():
		return errors.New("never elected")
	}
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: namespace}, Data: map[string]string{"x": "1"}}
	if err := kube.Create(ctx, object); err != nil {
		return err
	}
	made := func(ctx context.Context) (bool, error) {
		secret := &corev1.Secret{}
		err := kube.Get(ctx, client.ObjectKeyFromObject(object), secret)
		return err == nil && string(secret.Data["x"]) == "1", client.IgnoreNotFound(err)
	}
	if err := wait.PollUntilContextCancel(ctx, 20*time.Millisecond, true, made); err != nil {
		return fmt.Errorf("the Secret did not come: %w", err)
	}
	if err := kube.Delete(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: namespace}}); err != nil {
		return err
	}
	if err := wait.PollUntilContextCancel(ctx, 20*time.Millisecond, true, made); err != nil {
		return fmt.Errorf("the Secret did not come back: %w", err)
	}
	cancel()
	return <-ended
}
