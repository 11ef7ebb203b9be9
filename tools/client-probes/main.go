// Command client-probes talks to an API server as Go operators do, with client-go and controller-runtime, and says for each
// thing it tried whether it worked. It is sent against the embedded server and against a real one.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

type probe struct {
	name string
	run  func(ctx context.Context, config *rest.Config, namespace string) error
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: client-probes KUBECONFIG")
		os.Exit(2)
	}
	config, err := clientcmd.BuildConfigFromFlags("", os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	config.QPS, config.Burst = 1000, 1000

	probes := []probe{
		{"typed protobuf client", typedClient},
		{"dynamic client", dynamicClient},
		{"server-side apply", serverSideApply},
		{"informer", informer},
		{"informer by streaming list", streamingInformer},
		{"metadata client", metadataClient},
		{"discovery and mapping", discoveryAndMapping},
		{"events", events},
		{"leader election", leaderElection},
		{"retry on conflict", retryOnConflict},
		{"custom resources", customResources},
		{"controller-runtime client", runtimeClient},
		{"controller-runtime manager", runtimeManager},
	}
	failed := 0
	for index, one := range probes {
		ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
		namespace := fmt.Sprintf("probe-%d", index)
		err := createNamespace(ctx, config, namespace)
		if err == nil {
			err = one.run(ctx, rest.CopyConfig(config), namespace)
		}
		cancel()
		if err != nil {
			failed++
			fmt.Printf("FAILED %s: %v\n", one.name, err)
		} else {
			fmt.Printf("ok %s\n", one.name)
		}
	}
	if failed > 0 {
		os.Exit(1)
	}
}
