// The views about Spark: one file, since one leads to the other.

export { AppView } from './app/view.tsx'
export { AppsView } from './apps/view.tsx'
export { OperationsView } from './operations/view.tsx'
export { StageView } from './stage/view.tsx'
