import { NumberInput, ReferenceInput, SelectInput, TextInput } from "react-admin";

export const BY_NAME = { field: "name", order: "ASC" } as const;

/** The API's filters: `q` searches all texts, and a suffix such as `_gte` compares. */
export const filmFilters = [
  <TextInput key="q" source="q" label="Search" alwaysOn resettable />,
  <ReferenceInput key="genre" source="genreId" reference="genres" sort={BY_NAME} perPage={100} alwaysOn>
    <SelectInput label="Genre" optionText="name" />
  </ReferenceInput>,
  <NumberInput key="rating" source="imdbRating_gte" label="Rated at least" alwaysOn />,
];
