// One pass over a set of objects with the engine of Flux: apply what is in -apply, delete what is in -delete, say what was done.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/polling"
	"github.com/fluxcd/pkg/ssa"
	"github.com/fluxcd/pkg/ssa/utils"
	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

func main() {
	var (
		kubeconfig  = flag.String("kubeconfig", "", "file")
		apply       = flag.String("apply", "", "file of objects that should be there")
		remove      = flag.String("delete", "", "file of objects that have left the set")
		concurrency = flag.Int("concurrency", 8, "requests at a time")
	)
	flag.Parse()
	log.SetLogger(logr.Discard())
	if err := run(context.Background(), *kubeconfig, *apply, *remove, *concurrency); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, kubeconfig, apply, remove string, concurrency int) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	// No throttling by the client: the server decides.
	config.QPS = -1
	manager, err := newManager(config, concurrency)
	if err != nil {
		return err
	}
	objects, err := read(apply)
	if err != nil {
		return err
	}
	left, err := read(remove)
	if err != nil {
		return err
	}
	begin := time.Now()
	manager.SetOwnerLabels(objects, "bench", "bench")
	options := ssa.DefaultApplyOptions()
	options.WaitInterval = 100 * time.Millisecond
	applied, err := manager.ApplyAllStaged(ctx, objects, options)
	if err != nil {
		return err
	}
	counts := map[ssa.Action]int{}
	for _, entry := range applied.Entries {
		counts[entry.Action]++
	}
	if len(left) > 0 {
		deletion := ssa.DefaultDeleteOptions()
		deletion.Inclusions = manager.GetOwnerLabels("bench", "bench")
		deleted, err := manager.DeleteAll(ctx, left, deletion)
		if err != nil {
			return err
		}
		for _, entry := range deleted.Entries {
			counts[entry.Action]++
		}
	}
	fmt.Printf("{\"event\":\"done\",\"passMs\":%d,\"created\":%d,\"configured\":%d,\"unchanged\":%d,\"deleted\":%d}\n",
		time.Since(begin).Milliseconds(), counts[ssa.CreatedAction], counts[ssa.ConfiguredAction],
		counts[ssa.UnchangedAction], counts[ssa.DeletedAction])
	return nil
}

func newManager(config *rest.Config, concurrency int) (*ssa.ResourceManager, error) {
	http, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	mapper, err := apiutil.NewDynamicRESTMapper(config, http)
	if err != nil {
		return nil, err
	}
	kube, err := client.New(config, client.Options{HTTPClient: http, Mapper: mapper})
	if err != nil {
		return nil, err
	}
	poller := polling.NewStatusPoller(kube, mapper, polling.Options{})
	manager := ssa.NewResourceManager(kube, poller, ssa.Owner{Field: "flux-bench", Group: "bench.slipway.dev"})
	manager.SetConcurrency(concurrency)
	return manager, nil
}

func read(file string) ([]*unstructured.Unstructured, error) {
	if file == "" {
		return nil, nil
	}
	opened, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	return utils.ReadObjects(opened)
}
