import { collect, get, openWatch, poll, post, type Step } from '../differential/case.ts';
import { collections, type Operation } from './operations.ts';
import { anythingCrd, widgetCrd } from './widget-crd.ts';

/** What has to be there before anything is done. */
export const setUp: readonly Step[] = [widgetCrd, anythingCrd].flatMap((crd) => [
  post('CRD', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', crd),
  poll('the kind', `/apis/property.example.com/v1/${crd.spec.names.plural}`, ({ status }) => status === 200),
]);

/** What happened, what is left, and what a watcher was told of it. */
export function stepsOf(done: readonly Operation[]): Step[] {
  const kinds = Object.entries(collections);
  return [
    ...kinds.map(([kind, path]) =>
      get(`${kind}s at first`, path, { save: { [`first${kind}`]: (body) => body.metadata.resourceVersion } }),
    ),
    ...done.flat(),
    ...kinds.map(([kind, path]) => get(`${kind}s at last`, path)),
    ...kinds.map(([kind, path]) =>
      openWatch(kind, `${path}?watch=true&timeoutSeconds=1&resourceVersion={first${kind}}`),
    ),
    ...kinds.map(([kind]) => collect(kind, 'end')),
  ];
}
