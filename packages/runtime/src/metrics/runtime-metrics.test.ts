import { expect, test } from 'vitest';

import { RuntimeMetrics } from './runtime-metrics.ts';

test('metrics have the names dashboards for controller-runtime ask for', () => {
  const names = new RuntimeMetrics().registry.getMetricsAsArray().map(({ name }) => name);
  expect(names).toEqual(
    expect.arrayContaining([
      'controller_runtime_reconcile_total',
      'controller_runtime_reconcile_errors_total',
      'controller_runtime_terminal_reconcile_errors_total',
      'controller_runtime_reconcile_panics_total',
      'controller_runtime_reconcile_timeouts_total',
      'controller_runtime_reconcile_time_seconds',
      'controller_runtime_max_concurrent_reconciles',
      'controller_runtime_active_workers',
      'workqueue_depth',
      'workqueue_adds_total',
      'workqueue_queue_duration_seconds',
      'workqueue_work_duration_seconds',
      'workqueue_unfinished_work_seconds',
      'workqueue_longest_running_processor_seconds',
      'workqueue_retries_total',
      'rest_client_requests_total',
      'rest_client_request_duration_seconds',
      'rest_client_request_retries_total',
      'rest_client_request_size_bytes',
      'rest_client_response_size_bytes',
      'leader_election_master_status',
      'leader_election_slowpath_total',
      'controller_runtime_webhook_latency_seconds',
      'controller_runtime_webhook_requests_total',
      'controller_runtime_webhook_requests_in_flight',
      'certwatcher_read_certificate_total',
      'certwatcher_read_certificate_errors_total',
    ]),
  );
});

test('counters of a controller are there before anything happens', async () => {
  const metrics = new RuntimeMetrics();
  metrics.controller('x');
  const text = await metrics.registry.metrics();
  for (const result of ['success', 'error', 'requeue', 'requeue_after']) {
    expect(text).toContain(`controller_runtime_reconcile_total{controller="x",result="${result}"} 0`);
  }
  expect(text).toContain('controller_runtime_active_workers{controller="x"} 0');
});

test('the depth of a queue is told by priority', async () => {
  const metrics = new RuntimeMetrics();
  const { queue } = metrics.controller('x');
  queue.depth(0, 1);
  queue.depth(-100, 1);
  queue.depth(-100, 1);
  queue.depth(0, -1);
  const text = await metrics.registry.metrics();
  expect(text).toContain('workqueue_depth{name="x",controller="x",priority="-100"} 2');
  expect(text).toContain('workqueue_depth{name="x",controller="x",priority="0"} 0');
});
