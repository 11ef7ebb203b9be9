import type { ServiceAccountTokens } from '../auth/service-account-tokens.ts';
import type { Clock } from '../clock.ts';
import type { LocalClient } from '../local-client.ts';
import type { Random } from '../random.ts';
import type { ControllerContext, Log, RunningController } from './controller.ts';
import { startClusterRoleAggregation } from './cluster-role-aggregation.ts';
import { startCrdFinalizer } from './crd-finalizer.ts';
import { startGarbageCollector } from './garbage-collector.ts';
import { InformerSet } from './informer-set.ts';
import { startNamespaceController, type NamespaceControllerOptions } from './namespace-controller.ts';
import { startRootCaPublisher, startServiceAccountController } from './namespace-furniture.ts';
import { startStorageProtection } from './storage-protection.ts';
import { startTokenSecrets } from './token-secrets.ts';
import { startCronJobController } from './workloads/cron-job-controller.ts';
import { startDaemonSetController } from './workloads/daemon-set-controller.ts';
import { startDeploymentController } from './workloads/deployment-controller.ts';
import { startDisruptionController } from './workloads/disruption-controller.ts';
import { startEndpointsController } from './workloads/endpoints-controller.ts';
import { startJobController } from './workloads/job-controller.ts';
import { startPodSimulator, startSimulatedNodes } from './workloads/pod-simulator.ts';
import { startReplicaSetController } from './workloads/replica-set-controller.ts';
import { SimulationRules, type Simulation, type Stage } from './workloads/simulation.ts';
import { startStatefulSetController } from './workloads/stateful-set-controller.ts';
import { startVolumeBinder } from './workloads/volume-binder.ts';
import { writeThrough } from './write-through.ts';

/**
 * `none`: only what the API server itself does (CRD clean-up). `core`: garbage collection, namespaces, default
 * ServiceAccounts, root CA, storage protection. `workloads`: also Deployments and the rest, with simulated nodes and pods.
 */
export type ControllerMode = 'none' | 'core' | 'workloads';

export interface ControllersOptions extends NamespaceControllerOptions {
  readonly client: LocalClient;
  readonly clock: Clock;
  readonly random: Random;
  /** Default: says nothing. */
  readonly log?: Log;
  /** Default `core`. */
  readonly mode?: ControllerMode;
  /** PEM published in `kube-root-ca.crt`. Default: an empty text. */
  readonly rootCa?: string;
  /** Signs the tokens in Secrets of type `kubernetes.io/service-account-token`. Default: such Secrets stay empty. */
  readonly serviceAccountTokens?: ServiceAccountTokens;
  /** Simulated nodes in mode `workloads`. Default 1; with 0 nobody binds or runs pods, so that a test can play the kubelet. */
  readonly nodes?: number;
  /** How simulated pods behave unless a rule or an annotation says otherwise. Default: ready at once. */
  readonly podStage?: Stage;
}

export interface RunningControllers {
  /** Makes simulated pods fail, hang, crash or dawdle; without effect outside mode `workloads`. */
  readonly simulation: Simulation;
  /** Resolves when every controller has seen what was there when it started. */
  synced(): Promise<void>;
  stop(): void;
}

/** Starts the controllers of a mode on shared caches. */
export function startControllers(options: ControllersOptions): RunningControllers {
  const { clock, random } = options;
  const log = options.log ?? (() => undefined);
  const mode = options.mode ?? 'core';
  const informers = new InformerSet(options.client, clock);
  const client = writeThrough(options.client, informers);
  const context: ControllerContext = { client, clock, random, log, informers };
  const running: RunningController[] = [startCrdFinalizer(context)];
  if (mode !== 'none') {
    running.push(
      startServiceAccountController(context),
      startRootCaPublisher(context, options.rootCa ?? ''),
      startGarbageCollector(context),
      startNamespaceController(context, options),
      startStorageProtection(context),
      startClusterRoleAggregation(context),
    );
    if (options.serviceAccountTokens) {
      running.push(startTokenSecrets(context, options.serviceAccountTokens, options.rootCa ?? ''));
    }
  }
  const simulation = new SimulationRules(options.podStage);
  if (mode === 'workloads') {
    running.push(
      ...(options.nodes === 0
        ? []
        : [startSimulatedNodes(context, options.nodes ?? 1), startPodSimulator(context, simulation)]),
      startReplicaSetController(context),
      startDeploymentController(context),
      startStatefulSetController(context),
      startDaemonSetController(context),
      startJobController(context),
      startCronJobController(context),
      startEndpointsController(context),
      startVolumeBinder(context),
      startDisruptionController(context),
    );
  }
  return {
    simulation,
    synced: () => informers.synced(),
    stop() {
      for (const controller of running) {
        controller.stop();
      }
      informers.stop();
    },
  };
}
