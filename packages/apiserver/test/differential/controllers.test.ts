import { differentialTests } from './differential-tests.ts';

differentialTests('controlling');
