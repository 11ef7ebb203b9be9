export { operator } from './operator.ts';
