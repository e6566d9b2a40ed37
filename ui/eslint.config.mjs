import js from '@eslint/js'
import tseslint from 'typescript-eslint'

// What each folder of src/ may import, beside itself (ui/DESIGN.md).
const layers = {
  text: [],
  timeline: [],
  api: [],
  marks: ['app', 'text', 'timeline'],
  app: ['api', 'text'],
  parts: ['api', 'app', 'marks', 'text', 'timeline'],
  frame: ['api', 'app', 'parts', 'text', 'views'],
  views: ['api', 'app', 'marks', 'parts', 'text', 'timeline'],
}
const folders = Object.entries(layers).map(([folder, allowed]) => ({
  files: [`src/${folder}/**/*.{ts,tsx}`],
  rules: {
    'no-restricted-imports': [
      'error',
      {
        patterns: Object.keys(layers)
          .filter((other) => other !== folder && !allowed.includes(other))
          .map((other) => ({
            group: [`../${other}/*`, `../../${other}/*`],
            message: `${folder} may not use ${other}.`,
          })),
      },
    ],
  },
}))

export default tseslint.config(
  { ignores: ['node_modules'] },
  js.configs.recommended,
  ...tseslint.configs.strictTypeChecked.map((config) => ({ ...config, files: ['**/*.{ts,tsx}'] })),
  {
    files: ['**/*.{ts,tsx}'],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      'max-lines': ['error', 300],
      'max-lines-per-function': ['error', { max: 70, skipComments: true }],
      'max-params': ['error', 5],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-confusing-void-expression': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
    },
  },
  { files: ['build/*.mjs'], languageOptions: { globals: { process: 'readonly', console: 'readonly' } } },
  ...folders,
)
